import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { LicenseKeyUnavailable } from "../NutritionAdvisorError.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import { check, type Checked, count, known, millis, namesOf } from "./check.js"
import { isHeaderName, isHeaderValue } from "./http/header.js"
import * as Url from "./http/url.js"
import { holdsTemplate, isPlaceholder, placeholderRule } from "./placeholder.js"
import { version } from "./version.js"

const routes = {
  "advisor-licence": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
  "advisor-token": "/v2/token-cache/nutrition-advisor/oauth/token/{key}",
  "unified": "/v2/token-cache/unified/oauth/token/{key}"
} as const

interface CommonOptions {
  /** The base URL of the service. It must be https; http needs a loopback host or `allowInsecureHttp`. A path prefix is kept. */
  readonly baseUrl: string | URL
  /** Allows plain http to any host, for tests. `false` by default. */
  readonly allowInsecureHttp?: boolean | undefined
  /** The User-Agent header of every request. "effect-nutrition-advisor/" plus the version by default. */
  readonly userAgent?: string | undefined
}

interface ProviderOptions {
  /** The refresh options. Every field has a default. A TokenIssuer uses only `attempts`. */
  readonly refresh?: Partial<RefreshPolicy.RefreshPolicy> | undefined
  /** The timeout of one token exchange, including its retries. A number means milliseconds. 10 seconds by default. */
  readonly tokenTimeout?: Duration.DurationInput | undefined
}

export interface ExchangeOptions extends ProviderOptions, CommonOptions {
  /** The license key, or an Effect that reads it. The Effect runs at each exchange, so that a rotated key is used. */
  readonly licenseKey: Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>
  /** The token route, by name (SERVICE.md sections 4.1 to 4.3) or as a path that ends with `/{key}`. "advisor-licence" by default. */
  readonly tokenRoute?: keyof typeof routes | `/${string}{key}` | undefined
  /** The customer identifier from the product dashboard. It overrides the `customer_id` of the token response. */
  readonly serviceId?: string | Redacted.Redacted<string> | undefined
}

export interface DataOptions extends CommonOptions {
  /** The name of the header for the customer identifier (SERVICE.md section 5, rule 3). "Service-ID" by default. */
  readonly serviceIdHeader?: string | undefined
  /**
   * The status codes, from 400 to 499, that mean that the token is rejected (SERVICE.md section 5, rule 6; RFC 6750 section 3.1). 401 and
   * 403 by default.
   */
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  /** The timeout of one data request, including the response body. A number means milliseconds. 30 seconds by default. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The maximum size of the body of a data response, in bytes. 16 MiB by default. For token responses it is always 64 KiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * The response headers to include in errors and spans, each cut to 256 characters. Headers that carry secrets are not allowed. None by
   * default.
   */
  readonly observeHeaders?: ReadonlyArray<string> | undefined
}

export interface SharingOptions extends ExchangeOptions {
  /**
   * How long one replica may exchange the license key while the others wait. Must be at least `tokenTimeout` plus twice `cacheTimeout`, so
   * that the lease doesn't end during an exchange. A number means milliseconds. 15 seconds by default.
   */
  readonly lease?: Duration.DurationInput | undefined
  /** The timeout of one call to the cache. A number means milliseconds. 1 second by default. */
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

const clientOptions = namesOf<ExchangeOptions & DataOptions>({
  baseUrl: true,
  allowInsecureHttp: true,
  userAgent: true,
  refresh: true,
  tokenTimeout: true,
  licenseKey: true,
  tokenRoute: true,
  serviceId: true,
  serviceIdHeader: true,
  rejectedStatuses: true,
  requestTimeout: true,
  maxResponseBytes: true,
  observeHeaders: true
})

const sharedClientOptions = [
  ...clientOptions,
  ...namesOf<Omit<SharingOptions, keyof ExchangeOptions>>({ lease: true, cacheTimeout: true })
]

/** Each part of a composition accepts the options of the whole. */
const knownToAny = (options: CommonOptions) => known(options, sharedClientOptions)

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname)

/** Secret files and env files may add white space or quotation marks. */
const nothingAround = (text: string): ReadonlyArray<readonly [holds: boolean, rule: string]> => [
  [!/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(text), "has white space or a line break at its beginning or end"],
  [!/^(["'`]).*\1$|\s#/.test(text), "is in quotation marks or ends with a comment: docker's --env-file keeps both"]
]

const parseBaseUrl = (value: string | URL, allowInsecureHttp: boolean): Checked<Url.Base> =>
  Either.gen(function*() {
    const text = String(value)
    const isUrl = URL.canParse(text) && Url.isWellFormed(text) && !/[\s\p{Cc}]/u.test(text)
    const rule = text === "undefined" ? "is not set" : "is not an absolute address such as https://service.example"
    yield* check("baseUrl", ...nothingAround(text), [!holdsTemplate(text), placeholderRule], [isUrl, rule])
    const url = new URL(text)
    const isPlain = url.protocol === "http:" && (allowInsecureHttp || isLoopback(url.hostname))
    const isHttp = url.protocol === "https:" || isPlain
    yield* check(
      "baseUrl",
      [isHttp, "must begin with https:// (http is for this machine, or needs allowInsecureHttp)"],
      [url.username === "" && url.password === "", "must not contain a user name or a password"],
      [!/[?#]/.test(text), "must not have a query or a fragment"]
    )
    const pathname = url.pathname.replace(/\/+$/, "")
    return { href: url.origin + pathname, origin: url.origin, pathname }
  })

/** Checks that a license key can be percent-encoded as one path segment, and is not a placeholder. */
export const checkLicenseKey = (secret: Redacted.Redacted<string>): Checked<void> => {
  const key = String(Redacted.value(secret))
  const isSegment = Url.isWellFormed(key) && !/\p{Cc}/u.test(key) && !Url.isDotSegment(key)
  return check(
    "licenseKey",
    [key.trim() !== "", "is blank"],
    [key !== "undefined", "is not set"],
    ...nothingAround(key),
    [!/^\{\s*"/.test(key), "is JSON: read the key from its field"],
    [isSegment, "contains characters that no segment of a URL can carry"],
    [!isPlaceholder(key), placeholderRule]
  )
}

const checkHeaderValue = (field: string, value: string): Checked<void> =>
  check(field, [isHeaderValue(value), "is blank, or contains characters other than visible ASCII"])

const parseTokenRoute = (route: NonNullable<ExchangeOptions["tokenRoute"]>): Checked<string> => {
  const template = Object.hasOwn(routes, route) ? routes[route as keyof typeof routes] : route
  const segments = template.split("/").slice(1, -1)
  const isPath = /^\/(.*\/)?\{key\}$/.test(template) &&
    segments.every((segment) => /^[\w.~!$&'()*+,;=:@-]+$/.test(segment) && !Url.isDotSegment(segment))
  const rule = `must be ${Object.keys(routes).join(", ")}, or a path that starts with / and ends with /{key}`
  return Either.map(check("tokenRoute", [isPath, rule]), () => template)
}

const carriesSecrets = (name: string) =>
  /^((proxy-)?(authenticate|authentication-info|authorization)|(set-)?cookie2?|dpop|www-authenticate)$/.test(name) ||
  /^(.*-)?(api-?key|(access|auth|private|security)-token|authorization|client-secret|subscription-key)$/.test(name)

/** Checks for a header that belongs to the connection or the body, or that the client sets on each request. */
const isReserved = (name: string) =>
  /^(accept(-.*)?|connection|content-.*|date|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|user-agent|via)$/
    .test(name)

const common = (options: CommonOptions) =>
  Either.gen(function*() {
    const userAgent = options.userAgent ?? `effect-nutrition-advisor/${version}`
    yield* checkHeaderValue("userAgent", userAgent)
    return {
      base: yield* parseBaseUrl(options.baseUrl, options.allowInsecureHttp === true),
      /** The default headers of each request. */
      ownHeaders: { "user-agent": userAgent }
    }
  })

// Each parser fails with the first rule that an option breaks. All times in its result are in milliseconds.

/** Parses the options of a TokenProvider, which can be part of a custom composition and needs neither the token route nor the key. */
export const parseProvider = (options: ProviderOptions) =>
  Either.all({
    policy: RefreshPolicy.make(options.refresh),
    tokenTimeout: millis("tokenTimeout", options.tokenTimeout ?? "10 seconds")
  })

export const parseExchange = (options: ExchangeOptions) =>
  Either.gen(function*() {
    yield* knownToAny(options)
    const { licenseKey, serviceId } = options
    if (Redacted.isRedacted(licenseKey)) yield* checkLicenseKey(licenseKey)
    else yield* check("licenseKey", [Effect.isEffect(licenseKey), "must be a Redacted, or an Effect of one"])
    const id = typeof serviceId === "string" ? Redacted.make(serviceId) : serviceId
    if (id !== undefined) {
      yield* checkHeaderValue("serviceId", Redacted.value(id))
      yield* check("serviceId", [!isPlaceholder(Redacted.value(id)), placeholderRule])
    }
    return {
      ...yield* common(options),
      ...yield* parseProvider(options),
      licenseKey,
      routeTemplate: yield* parseTokenRoute(options.tokenRoute ?? "advisor-licence"),
      serviceId: id
    }
  })

export const parseData = (options: DataOptions) =>
  Either.gen(function*() {
    yield* knownToAny(options)
    const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
    const rejectedStatuses: ReadonlySet<number> = new Set(options.rejectedStatuses ?? [401, 403])
    const observeHeaders = (options.observeHeaders ?? []).map((name) => name.toLowerCase())
    yield* check(
      "serviceIdHeader",
      [isHeaderName(serviceIdHeader), "is not a valid HTTP header name"],
      [!carriesSecrets(serviceIdHeader), "names a header that carries credentials"],
      [!isReserved(serviceIdHeader), "names a header that the HTTP client sets itself"]
    )
    yield* check("rejectedStatuses", [
      [...rejectedStatuses].every((status) => Number.isInteger(status) && status >= 400 && status < 500),
      "must be whole numbers from 400 to 499"
    ])
    const isSecret = (name: string) => carriesSecrets(name) || name === serviceIdHeader
    yield* check(
      "observeHeaders",
      [observeHeaders.every(isHeaderName), "contains a name that is not a valid HTTP header name"],
      [!observeHeaders.some(isSecret), "names a header that carries secrets"]
    )
    return {
      ...yield* common(options),
      /** In lower case, as in the headers of an HttpClient request. */
      serviceIdHeader,
      rejectedStatuses,
      requestTimeout: yield* millis("requestTimeout", options.requestTimeout ?? "30 seconds"),
      maxBytes: yield* count("maxResponseBytes", options.maxResponseBytes ?? 16 * 1024 * 1024),
      observeHeaders
    }
  })

export const parseSharing = (options: SharingOptions) =>
  Either.gen(function*() {
    const settings = yield* parseExchange(options)
    const lease = yield* millis("lease", options.lease ?? "15 seconds")
    const cacheTimeout = yield* millis("cacheTimeout", options.cacheTimeout ?? "1 second")
    const shortest = settings.tokenTimeout + 2 * cacheTimeout
    yield* check("lease", [lease >= shortest, "must be at least tokenTimeout + 2 x cacheTimeout"])
    return { ...settings, lease, cacheTimeout }
  })

const merge = <A, B>(self: Checked<A>, that: Checked<B>) =>
  Either.map(Either.all([self, that]), ([one, other]) => ({ ...one, ...other }))

export const parseClient = (options: ExchangeOptions & DataOptions) =>
  Either.flatMap(known(options, clientOptions), () => merge(parseExchange(options), parseData(options)))

export const parseSharedClient = (options: SharingOptions & DataOptions) =>
  merge(parseSharing(options), parseData(options))

type Parsed<F extends (options: never) => unknown> = ReturnType<F> extends Checked<infer A> ? A : never

export type ExchangeSettings = Parsed<typeof parseExchange>
export type DataSettings = Parsed<typeof parseData>
export type SharingSettings = Parsed<typeof parseSharing>
export type ClientSettings = Parsed<typeof parseClient>
export type SharedClientSettings = Parsed<typeof parseSharedClient>
