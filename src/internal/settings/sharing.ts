/** The options of a client that shares its token. */
import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { checkValue, parseMillis } from "../options/check.js"
import { type Declarations, parse, type Parsed } from "../options/declarations.js"
import type { exchangeDeclarations } from "./settings.js"
import { clientDeclarations, type DataOptions, type ExchangeOptions } from "./settings.js"

export interface SharingOptions extends ExchangeOptions {
  /**
   * How long one replica may exchange the license key while the others wait. Must be at least `tokenTimeout` plus twice `cacheTimeout`, so
   * that the lease doesn't end during an exchange. A number means milliseconds. 15 seconds by default.
   */
  readonly lease?: Duration.DurationInput | undefined
  /** The timeout of one call to the cache. A number means milliseconds. 1 second by default. */
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

/** The options that need a SharedTokenCache. */
export const cacheDeclarations = {
  lease: { default: "15 seconds", parse: parseMillis, variable: "duration" },
  cacheTimeout: { default: "1 second", parse: parseMillis, variable: "duration" }
} satisfies Declarations<Omit<SharingOptions, keyof ExchangeOptions>>

/** The options of `NutritionAdvisor.layerShared`. */
export const sharedClientDeclarations = { ...clientDeclarations, ...cacheDeclarations }

/** The parsed options, in the same form as in `settings`. */
export type SharingSettings = Parsed<typeof exchangeDeclarations & typeof cacheDeclarations>
export type SharedClientSettings = Parsed<typeof sharedClientDeclarations>

export const checkLease = <S extends SharingSettings>(settings: S) => {
  const { cacheTimeout, lease, tokenTimeout } = settings
  const rule = "must be at least tokenTimeout + 2 x cacheTimeout"
  return checkValue(settings, "lease", [lease >= tokenTimeout + 2 * cacheTimeout, rule])
}

export const parseSharedClient = (options: SharingOptions & DataOptions) =>
  Either.flatMap(parse(sharedClientDeclarations, options), checkLease)
