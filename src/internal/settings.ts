import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ConfigurationError, type LicenseKeyUnavailable } from "../NutritionAdvisorError.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import { millisOf } from "./duration.js"
import { isHeaderName, isHeaderValue } from "./http/header.js"
import * as Url from "./http/url.js"
import { version } from "./version.js"

/** A setting as the client uses it, or the rule that it broke. */
export type Checked<A> = Either.Either<A, ConfigurationError>

export const orFail = <A>(checked: Checked<A>): Effect.Effect<A, ConfigurationError> =>
  Either.match(checked, { onLeft: Effect.fail, onRight: Effect.succeed })

/** What the check makes of options that are read now, once. */
export const read = <O, A>(check: (options: O) => Checked<A>, options: O): Effect.Effect<A, ConfigurationError> =>
  Effect.suspend(() => orFail(check(options)))

/** The layer of settings, built of options that are read as it is built. */
export const layerFrom = <O, S, A, R>(
  check: (options: O) => Checked<S>,
  options: O,
  layer: (settings: S) => Layer.Layer<A, never, R>
): Layer.Layer<A, ConfigurationError, R> => Layer.unwrapEffect(Effect.map(read(check, options), layer))

const refuse = (field: string, rule: string) => Either.left(new ConfigurationError({ field, rule }))

const acceptUnless = <A>(rule: string | undefined, field: string, value: A): Checked<A> =>
  rule === undefined ? Either.right(value) : refuse(field, rule)

/** The rules that a text may break, most telling first. */
type Rules = ReadonlyArray<readonly [rule: string, isBroken: (text: string) => boolean]>

const brokenRule = (rules: Rules, text: unknown): string | undefined =>
  typeof text === "string" ? rules.find(([, isBroken]) => isBroken(text))?.[0] : "is no text"

const textIn = Option.liftThrowable((secret: Redacted.Redacted<unknown>) => Redacted.value(secret))

const brokenRuleOf = (rules: Rules, secret: Redacted.Redacted<unknown>): string | undefined =>
  Option.match(textIn(secret), { onNone: () => "was wiped", onSome: (text) => brokenRule(rules, text) })

export const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname)

export const baseUrl = (value: string | URL, allowInsecureHttp = false): Checked<Url.Base> => {
  const text = String(value)
  if (!Url.isWellFormed(text) || /[\s\p{Cc}]/u.test(text)) {
    return refuse("baseUrl", "holds white space, a control character or half of a surrogate pair")
  }
  if (!URL.canParse(text)) return refuse("baseUrl", "is no absolute address, such as https://service.example")
  const url = new URL(text)
  const isAllowed = url.protocol === "https:" ||
    (url.protocol === "http:" && (allowInsecureHttp || isLoopback(url.hostname)))
  if (!isAllowed) {
    return refuse("baseUrl", "must begin with https:// (http only to this machine itself, or with allowInsecureHttp)")
  }
  if (url.username !== "" || url.password !== "") return refuse("baseUrl", "holds a user name or a password")
  if (/[?#]/.test(text)) return refuse("baseUrl", "has a query or a fragment")
  const pathname = url.pathname.replace(/\/+$/, "")
  return Either.right({ href: url.origin + pathname, origin: url.origin, pathname })
}

/** Only what a forgotten setting looks like: a test may call its key what it likes. */
const placeholder =
  /^(undefined|null|\[object \w+\]|<.*>|\{.*\}|\$\{.*\}|your[-_ ]?((license|licence|api)[-_ ]?)?key([-_ ]?here)?|change[-_ ]?me)$/i

const ends: Rules = [
  ["is blank", (text) => text.trim() === ""],
  ["ends with a line break", (text) => /[\r\n]$/.test(text)],
  ["has white space at its beginning or end", (text) => text !== text.trim()]
]

/** A license key is one path segment that percent-encodes, and no value of a forgotten setting. */
const keyRules: Rules = [
  ...ends,
  ["holds a control character", (key) => /\p{Cc}/u.test(key)],
  ["holds half of a surrogate pair", (key) => !Url.isWellFormed(key)],
  ["is a dot segment, which a URL can't carry", Url.isDotSegment],
  ["looks like a placeholder", (key) => placeholder.test(key)]
]

/** The rule that a license key breaks, if it breaks one. */
export const brokenKeyRule = (key: unknown): string | undefined =>
  Redacted.isRedacted(key) ? brokenRuleOf(keyRules, key) : "is not Redacted: wrap it in Redacted.make"

/** The key itself, or an effect that is run at each exchange. */
export type LicenseKey = Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>

/** A key that was given is judged now, an effect when it is run. */
export const licenseKey = (key: LicenseKey): Checked<LicenseKey> =>
  acceptUnless(Effect.isEffect(key) ? undefined : brokenKeyRule(key), "licenseKey", key)

const valueRules: Rules = [
  ...ends,
  ["holds characters that are not visible ASCII, which no header can carry", (text) => !isHeaderValue(text)]
]

/** In a Redacted of its own: what the user has may be wiped. */
export const serviceId = (
  value: string | Redacted.Redacted<string> | undefined
): Checked<Option.Option<Redacted.Redacted<string>>> => {
  if (value === undefined) return Either.right(Option.none())
  const id = Redacted.isRedacted(value) ? value : Redacted.make(value)
  const rule = brokenRuleOf(valueRules, id)
  return rule === undefined
    ? Either.right(Option.some(Redacted.make(Redacted.value(id))))
    : refuse("serviceId", rule)
}

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
  "upgrade",
  "user-agent"
])

const noHeaderName = "is no header name that HTTP allows"

const nameRules: Rules = [
  [noHeaderName, (name) => !isHeaderName(name)],
  ["is the name of a header that something else uses", (name) => takenHeaders.has(name.toLowerCase())]
]

/** The name in lower case, as HttpClient keeps headers. */
export const serviceIdHeader = (value: unknown = "Service-ID"): Checked<string> =>
  acceptUnless(brokenRule(nameRules, value), "serviceIdHeader", String(value).toLowerCase())

const routes = {
  "advisor-licence": "/v2/token-cache/nutrition-advisor/oauth/licence/{key}",
  "advisor-token": "/v2/token-cache/nutrition-advisor/oauth/token/{key}",
  "unified": "/v2/token-cache/unified/oauth/token/{key}"
} as const

export type TokenRoute = keyof typeof routes | `/${string}{key}`

const isNamedRoute = (route: string): route is keyof typeof routes => Object.hasOwn(routes, route)

/** Whether it has the form of a route, whatever its segments. */
export const isTokenRoute = (route: string): route is TokenRoute =>
  isNamedRoute(route) || (route.startsWith("/") && route.endsWith("/{key}"))

const isSegment = (segment: string) => /^[\w.~!$&'()*+,;=:@-]+$/.test(segment) && !Url.isDotSegment(segment)

const routeRules: Rules = [
  [
    "must be advisor-licence, advisor-token, unified, or a path that starts with / and ends with /{key}",
    (route) => !isTokenRoute(route)
  ],
  [
    "has an empty segment, a dot segment, or a segment with characters that a path can't have",
    (route) => !route.split("/").slice(1, -1).every(isSegment)
  ]
]

/** The route as a template with `{key}` as its last segment. */
export const tokenRoute = (route: unknown = "advisor-licence"): Checked<string> => {
  const template = typeof route === "string" && isNamedRoute(route) ? routes[route] : route
  return acceptUnless(brokenRule(routeRules, template), "tokenRoute", String(template))
}

export const rejectedStatuses = (statuses: ReadonlyArray<number> = [401, 403]): Checked<ReadonlySet<number>> =>
  Array.isArray(statuses) && statuses.every((status) => Number.isInteger(status) && status >= 400 && status < 500)
    ? Either.right(new Set(statuses))
    : refuse("rejectedStatuses", "must be an array of whole numbers from 400 to 499")

/** The largest time that a timer of Node waits for. */
const isTimer = (millis: number) => millis > 0 && millis < 2 ** 31

export const timeout = (field: string, value: Duration.DurationInput): Checked<Duration.Duration> => {
  const millis = millisOf(value)
  if (Number.isNaN(millis)) return refuse(field, "is no duration, such as \"30 seconds\" or a number of milliseconds")
  return isTimer(millis)
    ? Either.right(Duration.millis(millis))
    : refuse(field, "must be above zero and below 2^31 milliseconds (24.8 days)")
}

export const userAgent = (value: unknown = `effect-nutrition-advisor/${version}`): Checked<string> =>
  acceptUnless(brokenRule(valueRules, value), "userAgent", String(value))

const secretHeaders = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie", "www-authenticate"])

/** In lower case, as HttpClient keeps headers. */
export const observeHeaders = (names: unknown = [], serviceIdHeader: string): Checked<ReadonlyArray<string>> => {
  if (!Array.isArray(names)) return refuse("observeHeaders", "is no array of header names")
  const rules: Rules = [
    [noHeaderName, (name) => !isHeaderName(name)],
    [
      "names a header that carries secrets",
      (name) => secretHeaders.has(name.toLowerCase()) || name.toLowerCase() === serviceIdHeader
    ]
  ]
  const rule = names.map((name) => brokenRule(rules, name)).find((rule) => rule !== undefined)
  return acceptUnless(
    rule === noHeaderName ? "holds what is no header name that HTTP allows" : rule,
    "observeHeaders",
    names.map((name) => String(name).toLowerCase())
  )
}

/** A number of things or bytes. */
export const count = (field: string, value: unknown): Checked<number> =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? Either.right(value)
    : refuse(field, "must be a whole number above 0")

export const maxResponseBytes = (value: unknown = 16 * 1024 * 1024): Checked<number> => count("maxResponseBytes", value)

interface Surroundings {
  readonly window?: unknown
  readonly document?: unknown
  readonly WorkerGlobalScope?: unknown
  readonly importScripts?: unknown
}

/** A key in a browser is a key in everybody's hands (SERVICE.md section 1). */
export const server = (surroundings: Surroundings = globalThis as Surroundings): Checked<void> => {
  const isPage = surroundings.window !== undefined && surroundings.document !== undefined
  const isWorker = surroundings.WorkerGlobalScope !== undefined && surroundings.importScripts !== undefined
  return isPage || isWorker
    ? refuse("environment", "must be a server: in a browser the license key would be visible to everyone")
    : Either.void
}

/** What a user may give. */
interface Options {
  readonly baseUrl: string | URL
  readonly licenseKey: LicenseKey
  readonly tokenRoute?: string | undefined
  readonly serviceId?: string | Redacted.Redacted<string> | undefined
  readonly serviceIdHeader?: string | undefined
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  readonly tokenTimeout?: Duration.DurationInput | undefined
  readonly requestTimeout?: Duration.DurationInput | undefined
  readonly maxResponseBytes?: number | undefined
  readonly allowInsecureHttp?: boolean | undefined
  readonly userAgent?: string | undefined
  readonly observeHeaders?: ReadonlyArray<string> | undefined
  readonly refresh?: Partial<RefreshPolicy.RefreshPolicy> | undefined
  readonly lease?: Duration.DurationInput | undefined
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

type WithoutKey = Omit<Options, "licenseKey">

/** What all requests have in common. */
interface CommonSettings {
  readonly base: Url.Base
  readonly userAgent: string
}

/** The settings of a token's life. */
export interface ProviderSettings {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly tokenTimeout: Duration.Duration
}

/** The settings of the exchange. */
export interface ExchangeSettings extends CommonSettings, ProviderSettings {
  readonly licenseKey: LicenseKey
  readonly route: string
  readonly serviceId: Option.Option<Redacted.Redacted<string>>
}

/** The settings of data requests. */
export interface DataSettings extends CommonSettings {
  readonly serviceIdHeader: string
  /** The statuses that mean: this token is no longer accepted. */
  readonly rejectedStatuses: ReadonlySet<number>
  readonly requestTimeout: Duration.Duration
  readonly maxBytes: number
  /** Names of the response headers that errors and spans may show. */
  readonly observeHeaders: ReadonlyArray<string>
}

/** The settings of a client with a token of its own. */
export type ClientSettings = ExchangeSettings & DataSettings

/** The settings of an exchange that replicas share. */
export interface SharingSettings extends ExchangeSettings {
  readonly lease: Duration.Duration
  readonly cacheTimeout: Duration.Duration
}

const common = (options: WithoutKey): Checked<CommonSettings> =>
  Either.andThen(
    server(),
    () =>
      Either.all({ base: baseUrl(options.baseUrl, options.allowInsecureHttp), userAgent: userAgent(options.userAgent) })
  )

export const provider = (options: Pick<Options, "refresh" | "tokenTimeout">): Checked<ProviderSettings> =>
  Either.all({
    policy: RefreshPolicy.make(options.refresh),
    tokenTimeout: timeout("tokenTimeout", options.tokenTimeout ?? "10 seconds")
  })

const exchangeWith = (options: Options) => <C extends CommonSettings>(known: C): Checked<C & ExchangeSettings> =>
  Either.all({
    provider: provider(options),
    licenseKey: licenseKey(options.licenseKey),
    route: tokenRoute(options.tokenRoute),
    serviceId: serviceId(options.serviceId)
  }).pipe(Either.map(({ provider, ...own }) => ({ ...known, ...provider, ...own })))

const dataWith = (options: WithoutKey) => <C extends CommonSettings>(known: C): Checked<C & DataSettings> =>
  Either.flatMap(serviceIdHeader(options.serviceIdHeader), (header) =>
    Either.map(
      Either.all({
        rejectedStatuses: rejectedStatuses(options.rejectedStatuses),
        requestTimeout: timeout("requestTimeout", options.requestTimeout ?? "30 seconds"),
        maxBytes: maxResponseBytes(options.maxResponseBytes),
        observeHeaders: observeHeaders(options.observeHeaders, header)
      }),
      (own) => ({ ...known, ...own, serviceIdHeader: header })
    ))

const sharingWith = (options: Options) => <C extends ExchangeSettings>(known: C): Checked<C & SharingSettings> =>
  Either.all({
    cacheTimeout: timeout("cacheTimeout", options.cacheTimeout ?? "1 second"),
    lease: Either.filterOrLeft(
      timeout("lease", options.lease ?? "15 seconds"),
      Duration.greaterThan(known.tokenTimeout),
      () => new ConfigurationError({ field: "lease", rule: "must be longer than tokenTimeout" })
    )
  }).pipe(Either.map((own) => ({ ...known, ...own })))

// Each reads every option once, and ends in the first rule that one breaks.

export const exchange = (options: Options): Checked<ExchangeSettings> =>
  Either.flatMap(common(options), exchangeWith(options))

export const data = (options: WithoutKey): Checked<DataSettings> => Either.flatMap(common(options), dataWith(options))

export const client = (options: Options): Checked<ClientSettings> =>
  Either.flatMap(exchange(options), dataWith(options))

export const sharing = (options: Options): Checked<SharingSettings> =>
  Either.flatMap(exchange(options), sharingWith(options))

export const sharedClient = (options: Options): Checked<SharingSettings & DataSettings> =>
  Either.flatMap(client(options), sharingWith(options))
