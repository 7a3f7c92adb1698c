import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ConfigurationError } from "../NutritionAdvisorError.js"
import * as Url from "./url.js"

const refuse = (field: string) => Either.left(new ConfigurationError({ field }))

const accept = <A>(field: string, value: A, holds: boolean) => holds ? Either.right(value) : refuse(field)

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname)

export const baseUrl = (
  value: string | URL,
  allowInsecureHttp = false
): Either.Either<Url.Base, ConfigurationError> => {
  const text = String(value)
  if (!Url.isWellFormed(text) || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return refuse("baseUrl")
  const url = new URL(text)
  const isSecure = url.protocol === "https:" ||
    (url.protocol === "http:" && (allowInsecureHttp || isLoopback(url.hostname)))
  const isBare = url.username === "" && url.password === "" && !/[?#]/.test(text)
  const pathname = url.pathname.replace(/\/+$/, "")
  return accept("baseUrl", { href: url.origin + pathname, origin: url.origin, pathname }, isSecure && isBare)
}

const placeholder =
  /^(undefined|null|nan|true|false|\[object \w+\]|<.*>|\{.*\}|\$\{?\w*\}?|(your|my|the|a|insert|enter)?[-_ ]*(license|licence|api|secret|service)?[-_ ]*key([-_ ]*here)?|change[-_ ]?me|todo|x{3,}|\*{3,})$/i

/** Whether a text can be a license key: one path segment that percent-encodes, and no value of a forgotten setting. */
export const isLicenseKey = (key: string): boolean =>
  key !== "" && key === key.trim() && Url.isWellFormed(key) && !/\p{Cc}/u.test(key) && !Url.isDotSegment(key) &&
  !placeholder.test(key)

export const licenseKey = (
  key: Redacted.Redacted<string>
): Either.Either<Redacted.Redacted<string>, ConfigurationError> =>
  accept("licenseKey", key, Redacted.isRedacted(key) && isLicenseKey(String(Redacted.value(key))))

/** A text that goes into a header as it is (RFC 9110, section 5.5, without obsolete and white-space-only values). */
export const isHeaderValue = (value: string): boolean => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)

export const serviceId = (
  value: string | undefined
): Either.Either<Option.Option<Redacted.Redacted<string>>, ConfigurationError> =>
  value === undefined
    ? Either.right(Option.none())
    : accept("serviceId", Option.some(Redacted.make(value)), isHeaderValue(value))

const takenHeaders = new Set([
  "accept",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** A token of RFC 9110, section 5.6.2. */
export const isHeaderName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~\da-z]+$/i.test(name)

/** What a header of the caller's may hold (RFC 9110, section 5.5). */
export const isFieldContent = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** The name in lower case, as HttpClient keeps headers. */
export const serviceIdHeader = (value = "Service-ID"): Either.Either<string, ConfigurationError> => {
  const name = value.toLowerCase()
  return accept("serviceIdHeader", name, isHeaderName(name) && !takenHeaders.has(name))
}

const routes = {
  "advisor-licence": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
  "advisor-token": "/v2/token-cache/nutrition-advisor/oauth/token/{key}",
  "unified": "/v2/token-cache/unified/oauth/token/{key}"
} as const

export type TokenRoute = keyof typeof routes | `/${string}{key}`

const isNamedRoute = (route: string): route is keyof typeof routes => Object.hasOwn(routes, route)

/** The route as a template with `{key}` as its last segment. */
export const tokenRoute = (route: string = "advisor-licence"): Either.Either<string, ConfigurationError> => {
  const template = isNamedRoute(route) ? routes[route] : route
  const segments = template.split("/").slice(1)
  return accept(
    "tokenRoute",
    template,
    template.startsWith("/") && segments.at(-1) === "{key}" &&
      segments.slice(0, -1).every((segment) => /^[\w.~!$&'()*+,;=:@-]+$/.test(segment) && !Url.isDotSegment(segment))
  )
}

export const rejectedStatuses = (
  statuses: ReadonlyArray<number> = [401, 403]
): Either.Either<ReadonlySet<number>, ConfigurationError> =>
  accept(
    "rejectedStatuses",
    new Set(statuses),
    statuses.every((status) => Number.isInteger(status) && status >= 400 && status < 500)
  )

export const timeout = (
  field: "tokenTimeout" | "requestTimeout" | "cacheTimeout" | "lease",
  value: Duration.DurationInput
): Either.Either<Duration.Duration, ConfigurationError> =>
  Either.fromOption(Duration.decodeUnknown(value), () => new ConfigurationError({ field })).pipe(
    Either.filterOrLeft(
      (duration) => Duration.greaterThan(duration, Duration.zero) && Duration.toMillis(duration) < 2 ** 31,
      () => new ConfigurationError({ field })
    )
  )

export const maxResponseBytes = (value = 16 * 1024 * 1024): Either.Either<number, ConfigurationError> =>
  accept("maxResponseBytes", value, Number.isSafeInteger(value) && value > 0)

interface Surroundings {
  readonly window?: unknown
  readonly document?: unknown
  readonly WorkerGlobalScope?: unknown
  readonly importScripts?: unknown
}

/** A key in a browser is a key in everybody's hands (SERVICE.md section 1). */
export const server = (
  surroundings: Surroundings = globalThis as Surroundings
): Either.Either<void, ConfigurationError> => {
  const isPage = surroundings.window !== undefined && surroundings.document !== undefined
  const isWorker = surroundings.WorkerGlobalScope !== undefined && surroundings.importScripts !== undefined
  return accept("environment", undefined, !isPage && !isWorker)
}
