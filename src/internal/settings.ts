import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ConfigurationError, LicenseKeyUnavailable } from "../NutritionAdvisorError.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import { check, type Checked, count, millis } from "./check.js"
import { isHeaderName, isHeaderValue } from "./http/header.js"
import * as Url from "./http/url.js"
import { version } from "./version.js"

/** The key itself, or an effect that is run at each exchange. */
export type LicenseKey = Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>

const routes = {
  "advisor-licence": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
  "advisor-token": "/v2/token-cache/nutrition-advisor/oauth/token/{key}",
  "unified": "/v2/token-cache/unified/oauth/token/{key}"
} as const

export type TokenRoute = keyof typeof routes | `/${string}{key}`

/** What a user may give for data requests. */
export interface DataOptions {
  readonly baseUrl: string | URL
  readonly allowInsecureHttp?: boolean | undefined
  readonly userAgent?: string | undefined
  readonly serviceIdHeader?: string | undefined
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  readonly requestTimeout?: Duration.DurationInput | undefined
  readonly maxResponseBytes?: number | undefined
  readonly observeHeaders?: ReadonlyArray<string> | undefined
}

/** What a user may give for the life of tokens. */
interface ProviderOptions {
  readonly refresh?: Partial<RefreshPolicy.RefreshPolicy> | undefined
  readonly tokenTimeout?: Duration.DurationInput | undefined
}

/** What a user may give for the exchange. */
interface ExchangeOptions extends ProviderOptions, DataOptions {
  readonly licenseKey: LicenseKey
  readonly tokenRoute?: TokenRoute | undefined
  readonly serviceId?: string | Redacted.Redacted<string> | undefined
}

/** What a user may give for a token that replicas share. */
interface SharingOptions extends ExchangeOptions {
  readonly lease?: Duration.DurationInput | undefined
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

export interface ProviderSettings {
  readonly policy: RefreshPolicy.CheckedPolicy
  /** In milliseconds, as all times here. */
  readonly tokenTimeout: number
}

interface CommonSettings {
  readonly base: Url.Base
  /** Of each request that has none of its own: the user agent. */
  readonly ownHeaders: Readonly<Record<string, string>>
}

export interface ExchangeSettings extends CommonSettings, ProviderSettings {
  readonly licenseKey: LicenseKey
  readonly route: string
  readonly serviceId: Option.Option<Redacted.Redacted<string>>
}

export interface DataSettings extends CommonSettings {
  /** In lower case, as HttpClient keeps headers. */
  readonly serviceIdHeader: string
  readonly rejectedStatuses: ReadonlySet<number>
  readonly requestTimeout: number
  readonly maxBytes: number
  readonly observeHeaders: ReadonlyArray<string>
}

export interface SharingSettings extends ExchangeSettings {
  readonly lease: number
  readonly cacheTimeout: number
}

export type ClientSettings = ExchangeSettings & DataSettings

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname)

/** Where the simulator answers: at a host that RFC 2606 section 2 leaves without a service, or on a port of this machine. */
export const isSimulated = ({ origin }: Url.Base): boolean => {
  const { hostname, protocol } = new URL(origin)
  return hostname.endsWith(".invalid") || (protocol === "http:" && isLoopback(hostname))
}

/** A key in a browser is a key in everybody's hands (SERVICE.md section 1). */
const isBrowser = () =>
  ("window" in globalThis && "document" in globalThis) ||
  ("WorkerGlobalScope" in globalThis && "importScripts" in globalThis)

const baseUrl = (value: string | URL, allowInsecureHttp: boolean): Checked<Url.Base> =>
  Either.gen(function*() {
    const text = String(value)
    const isUrl = URL.canParse(text) && Url.isWellFormed(text) && !/[\s\p{Cc}]/u.test(text)
    yield* check(isUrl, "baseUrl", "is no absolute address, such as https://service.example")
    const url = new URL(text)
    yield* check(
      url.protocol === "https:" || (url.protocol === "http:" && (allowInsecureHttp || isLoopback(url.hostname))),
      "baseUrl",
      "must begin with https:// (http only to this machine itself, or with allowInsecureHttp)"
    )
    yield* check(url.username === "" && url.password === "", "baseUrl", "holds a user name or a password")
    yield* check(!/[?#]/.test(text), "baseUrl", "has a query or a fragment")
    const pathname = url.pathname.replace(/\/+$/, "")
    return { href: url.origin + pathname, origin: url.origin, pathname }
  })

/** Only what a forgotten setting looks like: a test may call its key what it likes. */
const placeholder =
  /^(undefined|null|\[object \w+\]|<.*>|\{.*\}|\$\{.*\}|your[-_ ]?((license|licence|api)[-_ ]?)?key([-_ ]?here)?|change[-_ ]?me|.*(•|…|\*{3}).*)$/i

/** A license key is one path segment that percent-encodes, and no value of a forgotten setting. */
export const licenseKey = (secret: Redacted.Redacted<string>): Checked<void> =>
  Either.gen(function*() {
    const key = String(Redacted.value(secret))
    yield* check(key.trim() !== "", "licenseKey", "is blank")
    const isTrimmed = !/^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(key)
    yield* check(isTrimmed, "licenseKey", "has white space or a line break at its beginning or end")
    yield* check(!/^(["'`]).*\1$/.test(key), "licenseKey", "is in quotation marks, which docker's --env-file keeps")
    yield* check(!/\p{Cc}/u.test(key), "licenseKey", "holds a control character")
    yield* check(Url.isWellFormed(key), "licenseKey", "holds half of a surrogate pair")
    yield* check(!Url.isDotSegment(key), "licenseKey", "is a dot segment, which a URL can't carry")
    yield* check(!placeholder.test(key), "licenseKey", "looks like a placeholder")
  })

const headerValue = (field: string, value: string): Checked<void> =>
  check(isHeaderValue(value), field, "is blank, or holds what is not visible ASCII, which no header can carry")

const tokenRoute = (route: TokenRoute): Checked<string> => {
  const template = Object.hasOwn(routes, route) ? routes[route as keyof typeof routes] : route
  const segments = template.split("/").slice(1, -1)
  const isPath = /^\/(.*\/)?\{key\}$/.test(template) &&
    segments.every((segment) => /^[\w.~!$&'()*+,;=:@-]+$/.test(segment) && !Url.isDotSegment(segment))
  const rule = "must be advisor-licence, advisor-token, unified, or a path that starts with / and ends with /{key}"
  return Either.map(check(isPath, "tokenRoute", rule), () => template)
}

const secretHeaders = /^(authorization|cookie|proxy-authorization|set-cookie|www-authenticate)$/

const takenHeaders =
  /^(accept|authorization|connection|content-length|content-type|cookie|expect|host|keep-alive|proxy-authorization|te|trailer|transfer-encoding|upgrade|user-agent)$/

const noHeaderName = "is no header name that HTTP allows"

const common = (options: DataOptions): Checked<CommonSettings> =>
  Either.gen(function*() {
    yield* check(
      !isBrowser(),
      "environment",
      "must be a server: in a browser the license key would be visible to everyone"
    )
    const userAgent = options.userAgent ?? `effect-nutrition-advisor/${version}`
    yield* headerValue("userAgent", userAgent)
    return {
      base: yield* baseUrl(options.baseUrl, options.allowInsecureHttp ?? false),
      ownHeaders: { "user-agent": userAgent }
    }
  })

// Each reads every option once, and ends in the first rule that one breaks.

export const provider = (options: ProviderOptions): Checked<ProviderSettings> =>
  Either.all({
    policy: RefreshPolicy.make(options.refresh),
    tokenTimeout: millis("tokenTimeout", options.tokenTimeout ?? "10 seconds")
  })

export const exchange = (options: ExchangeOptions): Checked<ExchangeSettings> =>
  Either.gen(function*() {
    const { licenseKey: key, serviceId } = options
    if (Redacted.isRedacted(key)) yield* licenseKey(key)
    else yield* check(Effect.isEffect(key), "licenseKey", "must be a Redacted, or an Effect of one")
    const id = typeof serviceId === "string" ? Redacted.make(serviceId) : serviceId
    if (id !== undefined) yield* headerValue("serviceId", Redacted.value(id))
    return {
      ...yield* common(options),
      ...yield* provider(options),
      licenseKey: key,
      route: yield* tokenRoute(options.tokenRoute ?? "advisor-licence"),
      serviceId: Option.fromNullable(id)
    }
  })

export const data = (options: DataOptions): Checked<DataSettings> =>
  Either.gen(function*() {
    const serviceIdHeader = (options.serviceIdHeader ?? "Service-ID").toLowerCase()
    yield* check(isHeaderName(serviceIdHeader), "serviceIdHeader", noHeaderName)
    yield* check(
      !takenHeaders.test(serviceIdHeader),
      "serviceIdHeader",
      "is the name of a header that something else uses"
    )
    const rejectedStatuses = new Set(options.rejectedStatuses ?? [401, 403])
    yield* check(
      [...rejectedStatuses].every((status) => Number.isInteger(status) && status >= 400 && status < 500),
      "rejectedStatuses",
      "must be whole numbers from 400 to 499"
    )
    const observeHeaders = (options.observeHeaders ?? []).map((name) => name.toLowerCase())
    yield* check(observeHeaders.every(isHeaderName), "observeHeaders", `holds what ${noHeaderName}`)
    yield* check(
      !observeHeaders.some((name) => secretHeaders.test(name) || name === serviceIdHeader),
      "observeHeaders",
      "names a header that carries secrets"
    )
    return {
      ...yield* common(options),
      serviceIdHeader,
      rejectedStatuses,
      requestTimeout: yield* millis("requestTimeout", options.requestTimeout ?? "30 seconds"),
      maxBytes: yield* count("maxResponseBytes", options.maxResponseBytes ?? 16 * 1024 * 1024),
      observeHeaders
    }
  })

export const client = (options: ExchangeOptions): Checked<ClientSettings> =>
  Either.gen(function*() {
    return { ...yield* exchange(options), ...yield* data(options) }
  })

export const sharing = (options: SharingOptions): Checked<SharingSettings> =>
  Either.gen(function*() {
    const settings = yield* exchange(options)
    const lease = yield* millis("lease", options.lease ?? "15 seconds")
    yield* check(lease > settings.tokenTimeout, "lease", "must be longer than tokenTimeout")
    const cacheTimeout = yield* millis("cacheTimeout", options.cacheTimeout ?? "1 second")
    return { ...settings, lease, cacheTimeout }
  })

export type SharedClientSettings = SharingSettings & DataSettings

export const sharedClient = (options: SharingOptions): Checked<SharedClientSettings> =>
  Either.gen(function*() {
    return { ...yield* sharing(options), ...yield* data(options) }
  })

/** The layer of settings, built of options that are read as it is built. */
export const layerFrom = <O, S, A, R>(
  parse: (options: O) => Checked<S>,
  options: O,
  layer: (settings: S) => Layer.Layer<A, never, R>
): Layer.Layer<A, ConfigurationError, R> => Layer.unwrapEffect(Effect.suspend(() => Effect.map(parse(options), layer)))
