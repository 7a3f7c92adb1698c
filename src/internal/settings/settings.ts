import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import * as Url from "../http/url.js"
import { check, type Checked, checkValue, parseCount, parseMillis } from "../options/check.js"
import { type Declarations, parse, type Parsed } from "../options/declarations.js"
import { redactedText } from "../options/redacted.js"
import { parseBaseUrl } from "./baseUrl.js"
import { defaultServiceIdHeader, parseHeaderValue, parseObserveHeaders, parseServiceIdHeader } from "./headerOptions.js"
import { parseLicenseKey } from "./licenseKey.js"
import { isPlaceholder, paddingRules, placeholderRule } from "./placeholder.js"
import { version } from "./version.js"

export interface ExchangeRoute {
  readonly path: string
}

/**
 * The token routes that have a name, with `{key}` in place of the license key. This isn't exported, because the declarations of programs
 * that use the option's type would import this internal file.
 */
const tokenRoutes = {
  "advisor-licence": { path: "/v2/token-cache/nutrition-advisor/oauth/licence/{key}" },
  "advisor-token": { path: "/v2/token-cache/nutrition-advisor/oauth/token/{key}" },
  "unified": { path: "/v2/token-cache/unified/oauth/token/{key}" }
} satisfies Readonly<Record<string, ExchangeRoute>>

/** This is a function, so that bundlers can leave it out of programs without the simulator. */
export const namedTokenRoutes = (): ReadonlyArray<ExchangeRoute> => Object.values(tokenRoutes)

interface CommonOptions {
  /** The base URL of the service. It must be https; http needs a loopback host or `allowInsecureHttp`. A path prefix is kept. */
  readonly baseUrl: string | URL
  /** Allows plain http to any host, for tests. `false` by default. */
  readonly allowInsecureHttp?: boolean | undefined
  /** The User-Agent header of every request. "effect-nutrition-advisor/<version>" by default. */
  readonly userAgent?: string | undefined
}

export interface ProviderOptions {
  /** The refresh options. Every field has a default. TokenIssuer uses only `attempts`, and SharedTokenIssuer only `margin`. */
  readonly refresh?: RefreshPolicy.Options | undefined
  /** The timeout of one token exchange, including its retries. A number means milliseconds. 10 seconds by default. */
  readonly tokenTimeout?: Duration.DurationInput | undefined
}

export interface ExchangeOptions extends ProviderOptions, CommonOptions {
  /** The license key, or an Effect that reads it. The Effect runs at each exchange, so that a rotated key is used. */
  readonly licenseKey: Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>
  /** The token route, by name (SERVICE.md section 4) or as a path that ends with `/{key}`. "advisor-licence" by default. */
  readonly tokenRoute?: keyof typeof tokenRoutes | `/${string}{key}` | undefined
  /** The customer identifier from the product dashboard. It overrides the `customer_id` of the token response. */
  readonly serviceId?: string | Redacted.Redacted<string> | undefined
}

export type LicenseKeySource = ExchangeOptions["licenseKey"]

export interface DataOptions extends CommonOptions {
  /** The name of the header for the customer identifier (SERVICE.md section 5, rule 3). "Service-ID" by default. */
  readonly serviceIdHeader?: string | undefined
  /**
   * The status codes, from 400 to 499, that mean that the token is rejected (SERVICE.md section 5, rule 6; RFC 6750, section 3.1).
   * `[401, 403]` by default.
   */
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  /** The timeout of one data request, including the response body. A number means milliseconds. 30 seconds by default. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The maximum size of the body of a data response, in bytes. 16 MiB by default. For token responses it is always 64 KiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * The response headers to include in errors and spans, each cut to 256 characters. Headers that carry secrets are not allowed. `[]`
   * by default.
   */
  readonly observeHeaders?: ReadonlyArray<string> | undefined
}

const parseServiceId = (serviceId: string | Redacted.Redacted<string>, field: string) =>
  Either.gen(function*() {
    const id = redactedText(serviceId)
    const text = yield* parseHeaderValue(Redacted.value(id), field)
    yield* check(field, ...paddingRules(text), [!isPlaceholder(text), placeholderRule])
    return id
  })

const parseTokenRoute = (
  nameOrPath: NonNullable<ExchangeOptions["tokenRoute"]>,
  field: string
): Checked<ExchangeRoute> => {
  if (Object.hasOwn(tokenRoutes, nameOrPath)) return Either.right(tokenRoutes[nameOrPath as keyof typeof tokenRoutes])
  const segments = nameOrPath.split("/").slice(1, -1)
  const isPath = /^\/(.*\/)?\{key\}$/.test(nameOrPath) &&
    segments.every((segment) => /^[\w.~!$&'()*+,;=:@-]+$/.test(segment) && !Url.isDotSegment(segment))
  const rule = `must be ${Object.keys(tokenRoutes).join(", ")}, or a path that starts with / and ends with /{key}`
  return checkValue({ path: nameOrPath }, field, [isPath, rule])
}

const parseRejectedStatuses = (statuses: ReadonlyArray<number>, field: string): Checked<ReadonlySet<number>> => {
  // A caller in JavaScript may pass a single number.
  const all = [statuses].flat()
  const areClientErrors = all.every((status) => Number.isInteger(status) && status >= 400 && status < 500)
  return checkValue(new Set(all), field, [areClientErrors, "must be whole numbers from 400 to 499"])
}

const commonDeclarations = {
  baseUrl: { isRequired: true, parse: parseBaseUrl, variable: "requiredText" },
  allowInsecureHttp: { default: false, parse: Either.right<boolean>, variable: "flag" },
  userAgent: { default: `effect-nutrition-advisor/${version}`, parse: parseHeaderValue, variable: "text" }
} satisfies Declarations<CommonOptions>

export const providerDeclarations = {
  refresh: { default: {}, parse: (policy) => RefreshPolicy.make(policy) },
  tokenTimeout: { default: "10 seconds", parse: parseMillis, variable: "duration" }
} satisfies Declarations<ProviderOptions>

export const exchangeDeclarations = {
  ...commonDeclarations,
  ...providerDeclarations,
  licenseKey: { isRequired: true, parse: parseLicenseKey, variable: "requiredSecret" },
  tokenRoute: { default: "advisor-licence", parse: parseTokenRoute, variable: "text" },
  serviceId: { parse: parseServiceId, variable: "text" }
} satisfies Declarations<ExchangeOptions>

export const dataDeclarations = {
  ...commonDeclarations,
  serviceIdHeader: { default: defaultServiceIdHeader, parse: parseServiceIdHeader, variable: "text" },
  rejectedStatuses: { default: [401, 403], parse: parseRejectedStatuses },
  requestTimeout: { default: "30 seconds", parse: parseMillis, variable: "duration" },
  maxResponseBytes: { default: 16 * 1024 * 1024, parse: parseCount, variable: "wholeNumber" },
  observeHeaders: { default: [], parse: parseObserveHeaders, variable: "names" }
} satisfies Declarations<DataOptions>

/** The options of `NutritionAdvisor.layer`. */
export const clientDeclarations = { ...exchangeDeclarations, ...dataDeclarations }

/** The parsed options: checked, with the defaults, and with all durations in milliseconds. */
export type ExchangeSettings = Parsed<typeof exchangeDeclarations>
export type DataSettings = Parsed<typeof dataDeclarations>
export type ClientSettings = Parsed<typeof clientDeclarations>

export const parseClient = (options: ExchangeOptions & DataOptions) => parse(clientDeclarations, options)

/** The settings that determine which token an exchange returns, besides the license key. */
export const tokenIdentityOf = ({ baseUrl, serviceId, tokenRoute }: ExchangeSettings): ReadonlyArray<string> => [
  baseUrl.origin + baseUrl.pathname,
  tokenRoute.path,
  serviceId === undefined ? "" : Redacted.value(serviceId)
]
