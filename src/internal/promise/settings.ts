import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type { Options, SharedOptions } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import type { ClientOptions } from "../../promise/Client.js"
import { check, type Checked } from "../options/check.js"
import { type Declarations, rejectUnknown } from "../options/declarations.js"
import * as Environment from "../options/environment.js"
import { redactedText } from "../options/redacted.js"
import * as Settings from "../settings/settings.js"
import * as Sharing from "../settings/sharing.js"

/** The options of NutritionAdvisor. Missing ones are read from environment variables. */
export type AdvisorOptions = Pick<ClientOptions, keyof SharedOptions>

/** The error of the function may contain the key, so it is dropped. */
const unavailable = (error: unknown) =>
  isNutritionAdvisorError(error) && error._tag === "LicenseKeyUnavailable"
    ? error
    : new LicenseKeyUnavailable({ detail: "the licenseKey function failed" })

const licenseKeyOf = (key: NonNullable<AdvisorOptions["licenseKey"]>): Settings.LicenseKeySource =>
  typeof key === "function"
    ? Effect.tryPromise({ try: async () => redactedText(await key()), catch: unavailable })
    : redactedText(key)

/** Wraps each option in a Config. Options are read by their names, because they may be getters of a class. */
const configsOf = <O extends Options>(given: AdvisorOptions, declarations: Declarations<O>) => {
  const all = Record.map(declarations, (_, name) => given[name as keyof AdvisorOptions])
  const { licenseKey } = given
  const set = Record.filter(
    { ...all, licenseKey: licenseKey === undefined ? undefined : licenseKeyOf(licenseKey) },
    Predicate.isNotUndefined
  )
  return Record.map(set, (value) => Config.succeed(value)) as Environment.ConfigOptions<O>
}

/** Rejects names that are not options of NutritionAdvisor, and the options of a shared token if the client doesn't share one. */
export const checkNames = (given: object, isShared: boolean): Checked<void> => {
  const isSet = (name: string) => Predicate.hasProperty(given, name) && given[name] !== undefined
  const unused = isShared ? [] : Object.keys(Sharing.cacheDeclarations).filter(isSet)
  return Either.andThen(
    rejectUnknown(given, Sharing.sharedClientDeclarations),
    check(`${unused[0]}`, [unused.length === 0, "is only used with sharedTokenCache"])
  )
}

/** Parses the given options. Those that are missing are read from their variables, as they are now. */
const read = <O extends Options, S>(
  given: AdvisorOptions,
  declarations: Declarations<O>,
  parse: (options: O) => Checked<S>
) =>
  Environment.makeFromConfig(
    configsOf(given, declarations),
    Environment.declarationsToRead(declarations),
    (options: O) => Effect.suspend(() => parse(options))
  )

export const readSettings = (given: AdvisorOptions) => read(given, Settings.clientDeclarations, Settings.parseClient)

export const readSharedSettings = (given: AdvisorOptions) =>
  read(given, Sharing.sharedClientDeclarations, Sharing.parseSharedClient)
