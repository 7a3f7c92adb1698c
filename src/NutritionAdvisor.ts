/**
 * The Nutrition Advisor service: food search, and an authorized HttpClient for every other route.
 *
 * @since 1.0.0
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { pipe } from "effect/Function"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Answer from "./internal/answer.js"
import { authorizedRequest } from "./internal/authorizedRequest.js"
import * as Configuration from "./internal/configuration.js"
import * as Deadline from "./internal/deadline.js"
import * as Http from "./internal/http.js"
import * as KnownKeys from "./internal/knownKeys.js"
import { noteBuild } from "./internal/rebuilds.js"
import * as Telemetry from "./internal/telemetry.js"
import * as Url from "./internal/url.js"
import {
  BadRequest,
  type ConfigurationError,
  type NutritionAdvisorError,
  UnexpectedResponse
} from "./NutritionAdvisorError.js"
import type { SharedTokenCache } from "./SharedTokenCache.js"
import * as SharedTokenIssuer from "./SharedTokenIssuer.js"
import * as TokenIssuer from "./TokenIssuer.js"
import * as TokenProvider from "./TokenProvider.js"
import * as TokenStore from "./TokenStore.js"

/**
 * What a search may add to its request beside the term (SERVICE.md section 4.4).
 *
 * @since 1.0.0
 * @category models
 */
export interface SearchOptions {
  /** Further query parameters; `term` is the search's own. */
  readonly urlParams?: UrlParams.Input | undefined
  /** Further headers; the two of SERVICE.md section 5 are the client's own. */
  readonly headers?: Headers.Input | undefined
}

/**
 * The calls of the service, each with a token that renews itself; each can end in any error of NutritionAdvisorError.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * export const diary = Effect.gen(function*() {
 *   const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
 *   const response = yield* httpClient.get("/v2/diary", { urlParams: { day: "2026-11-20" } })
 *   return yield* response.json
 * })
 * ```
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The payload of a semantic food search (SERVICE.md section 4.4), as the service sent it. */
  readonly search: (term: string, options?: SearchOptions) => Effect.Effect<unknown, NutritionAdvisorError>
  /** The same, decoded; a payload of another shape is UnexpectedResponse with reason "Schema". */
  readonly searchAs: <A, I, R>(schema: Schema.Schema<A, I, R>) => (
    term: string,
    options?: SearchOptions
  ) => Effect.Effect<A, NutritionAdvisorError, R>
  /** Any other route: URLs relative to the base URL, both headers, the same renewal rule, the same errors. */
  readonly httpClient: HttpClient.HttpClient.With<NutritionAdvisorError>
}

/**
 * The tag of the Nutrition Advisor service (SERVICE.md section 1).
 *
 * @since 1.0.0
 * @category tags
 */
export class NutritionAdvisor
  extends Context.Tag("effect-nutrition-advisor/NutritionAdvisor")<NutritionAdvisor, Service>()
{}

/**
 * The settings of the service: those of the TokenIssuer, and four of the data requests.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends TokenIssuer.Options {
  /** The header that carries the customer identifier; "Service-ID" by default (SERVICE.md section 5, rule 3). */
  readonly serviceIdHeader?: string | undefined
  /**
   * The statuses, from 400 to 499, that mean: this token is no longer accepted. 401 and 403 by default (SERVICE.md section 5,
   * rule 6, and RFC 6750 section 3.1).
   */
  readonly rejectedStatuses?: ReadonlyArray<number> | undefined
  /** The time of one data request, its body included; 30 seconds by default. */
  readonly requestTimeout?: Duration.DurationInput | undefined
  /** The largest body of a data answer, in bytes; 16 MiB by default. A token answer may have 64 KiB. */
  readonly maxResponseBytes?: number | undefined
}

const searchRoute = "/v2/products/napi/food/search/semantic"

const searchAttributes = { "http.request.method": "GET", "url.template": searchRoute }

const isSendable = ([name, value]: readonly [string, string]) =>
  Configuration.isHeaderName(name) && Configuration.isFieldContent(value)

const areSendable = (headers: Headers.Headers) => Object.entries(headers).every(isSendable)

const areWellFormed = (params: UrlParams.UrlParams) =>
  params.every(([name, value]) => Url.isWellFormed(name) && Url.isWellFormed(value))

const notSent = (operation: "search" | "request", detail: string) => Either.left(new BadRequest({ operation, detail }))

/** What decoding ends in where the payload is nested deeper than the stack, and the schema recursive. */
const isStackOverflow = (defect: unknown) => defect instanceof RangeError

const withoutBody = new Set([204, 205])

const handOut = (request: HttpClientRequest.HttpClientRequest, { body, headers, status }: Answer.Answer) =>
  HttpClientResponse.fromWeb(
    request,
    new Response(withoutBody.has(status) ? null : body as Uint8Array<ArrayBuffer>, {
      status,
      headers: Object.entries(Headers.fromInput(headers)).filter(isSendable)
    })
  )

/** The service over the HttpClient and the TokenProvider in the context. */
const makeWithoutTokens = (
  options: Options,
  knownKeys: KnownKeys.KnownKeys = KnownKeys.of(options.licenseKey)
): Effect.Effect<
  Service,
  ConfigurationError,
  HttpClient.HttpClient | TokenProvider.TokenProvider | Scope.Scope
> =>
  Effect.gen(function*() {
    yield* Configuration.server()
    const base = yield* Configuration.baseUrl(options.baseUrl, options.allowInsecureHttp)
    const serviceIdHeader = yield* Configuration.serviceIdHeader(options.serviceIdHeader)
    const rejected = yield* Configuration.rejectedStatuses(options.rejectedStatuses)
    const timeout = yield* Configuration.timeout("requestTimeout", options.requestTimeout ?? "30 seconds")
    const maxBytes = yield* Configuration.maxResponseBytes(options.maxResponseBytes)
    yield* Effect.locallyScopedWith(Headers.currentRedactedNames, Arr.append(serviceIdHeader))

    const tokens = yield* TokenProvider.TokenProvider
    const send = authorizedRequest({
      tokens,
      client: Http.quiet(yield* HttpClient.HttpClient),
      deadline: yield* Deadline.make(Duration.toMillis(timeout)),
      knownKeys,
      maxBytes,
      rejected,
      serviceIdHeader
    })

    const observedSearch = Telemetry.observed("search")

    const observedRequest = Telemetry.observed("request")

    const searchRequest = (
      term: string,
      { headers, urlParams }: SearchOptions
    ): Either.Either<Http.Request, BadRequest> => {
      const further = urlParams === undefined ? [] : UrlParams.remove(UrlParams.fromInput(urlParams), "term")
      const sent = Headers.fromInput(headers)
      if (term.trim() === "") {
        return notSent("search", "the search term is blank")
      }
      if (!Url.isWellFormed(term) || !areWellFormed(further)) {
        return notSent("search", "the search term or a query parameter holds half of a surrogate pair")
      }
      if (!areSendable(sent)) {
        return notSent("search", "a header holds characters that HTTP does not allow")
      }
      const query = Url.query([["term", term], ...further])
      return Either.right({
        method: "GET",
        origin: base.origin,
        path: `${base.pathname}${searchRoute}?${query}`,
        headers: sent,
        body: HttpBody.empty
      })
    }

    const searched = <A, R>(
      term: string,
      options: SearchOptions,
      decode: (answer: Answer.Answer) => Effect.Effect<A, NutritionAdvisorError, R>
    ) =>
      observedSearch(searchAttributes, (region) =>
        Either.match(searchRequest(term, options), {
          onLeft: Effect.fail,
          onRight: (request) => send({ operation: "search", region, request }, decode)
        }))

    const jsonOf = (answer: Answer.Answer) => Answer.json(answer, "search")

    const search: Service["search"] = (term, options = {}) => searched(term, options, jsonOf)

    const searchAs: Service["searchAs"] = (schema) => {
      const decode = Schema.decodeUnknown(schema)
      const decoded = (answer: Answer.Answer) =>
        Effect.flatMap(jsonOf(answer), (body) =>
          Effect.suspend(() => decode(body)).pipe(
            Effect.catchSomeDefect((defect) =>
              isStackOverflow(defect) ? Option.some(Effect.fail(defect)) : Option.none()
            ),
            Effect.mapError(() =>
              new UnexpectedResponse({ operation: "search", status: answer.status, reason: "Schema" })
            )
          ))
      return (term, options = {}) => searched(term, options, decoded)
    }

    const requestBelow = (
      request: HttpClientRequest.HttpClientRequest
    ): Either.Either<Http.Request, BadRequest> => {
      if (!Url.isWellFormed(request.url) || !areWellFormed(request.urlParams)) {
        return notSent("request", "the URL holds half of a surrogate pair")
      }
      if (!areSendable(request.headers)) {
        return notSent("request", "a header holds characters that HTTP does not allow")
      }
      const url = Url.below(base, request.url)
      if (url === undefined) {
        return notSent("request", "the URL leaves the base URL")
      }
      const query = [url.search.slice(1), Url.query(request.urlParams)].filter((part) => part !== "").join("&")
      const described = HttpClientRequest.setBody(HttpClientRequest.get(url), request.body).headers
      return Either.right({
        method: request.method,
        origin: url.origin,
        path: url.pathname + (query === "" ? "" : `?${query}`),
        headers: Headers.merge(described, Headers.remove(request.headers, ["authorization", serviceIdHeader])),
        body: request.body
      })
    }

    const execute = (request: HttpClientRequest.HttpClientRequest) =>
      observedRequest({ "http.request.method": request.method }, (region) =>
        Either.match(requestBelow(request), {
          onLeft: Effect.fail,
          onRight: (request) =>
            send(
              { operation: "request", region, request },
              (answer) => Effect.sync(() => handOut(Http.requestOf(request), answer))
            )
        }))

    return {
      search,
      searchAs,
      httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
        Effect.flatMap(execute),
        Effect.succeed
      )
    }
  })

/**
 * The service over a TokenProvider of one's own, to swap what is below: a vault's tokens, a shared token, a double. Building it
 * ends in ConfigurationError where a setting is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerWithoutTokens = (
  options: Options
): Layer.Layer<NutritionAdvisor, ConfigurationError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.scoped(NutritionAdvisor, makeWithoutTokens(options))

const identityOf = ({ baseUrl, licenseKey, tokenRoute }: Options) =>
  pipe(Hash.hash(licenseKey), Hash.combine(Hash.string(`${String(baseUrl)} ${tokenRoute ?? ""}`)))

const assembled = <E, R>(
  options: Options,
  issuer: (options: Options) => Layer.Layer<TokenIssuer.TokenIssuer, E, R>
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigurationError | E,
  HttpClient.HttpClient | R
> =>
  Layer.unwrapEffect(
    Effect.map(
      KnownKeys.remembering(options.licenseKey),
      ([licenseKey, knownKeys]) =>
        Layer.scoped(NutritionAdvisor, makeWithoutTokens(options, knownKeys)).pipe(
          Layer.provideMerge(TokenProvider.layer(options.refresh)),
          Layer.provide([issuer({ ...options, licenseKey }), TokenStore.layer])
        )
    )
  )

/**
 * The service with a token store in memory. Build it once for a process: each build buys a token of its own. Building it ends
 * in ConfigurationError where a setting is wrong, and sends nothing.
 *
 * @example
 * ```ts
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer, ManagedRuntime, Redacted } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * const Advisor = NutritionAdvisor.layer({
 *   baseUrl: "https://nutrition.example",
 *   licenseKey: Redacted.make(process.env.LICENSE_KEY ?? "")
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * export const runtime = ManagedRuntime.make(Advisor)
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<NutritionAdvisor | TokenProvider.TokenProvider, ConfigurationError, HttpClient.HttpClient> =>
  Layer.tap(assembled(options, TokenIssuer.layer), () => noteBuild(identityOf(options)))

/**
 * The settings of the service, and the two of the sharing, `lease` and `cacheTimeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface SharedOptions extends Options, SharedTokenIssuer.Options {}

/**
 * The service with a token that replicas share through the SharedTokenCache in the context. Building it ends in
 * ConfigurationError where a setting is wrong; a cache that fails ends nothing.
 *
 * @example
 * ```ts
 * import { FetchHttpClient } from "@effect/platform"
 * import { Layer, Redacted } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 * import { RedisTokenCache } from "effect-nutrition-advisor/redis"
 *
 * export const Advisor = NutritionAdvisor.layerShared({
 *   baseUrl: "https://nutrition.example",
 *   licenseKey: Redacted.make(process.env.LICENSE_KEY ?? "")
 * }).pipe(
 *   Layer.provide([FetchHttpClient.layer, RedisTokenCache.layerConfig()])
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layerShared = (
  options: SharedOptions
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigurationError,
  HttpClient.HttpClient | SharedTokenCache
> =>
  assembled(
    options,
    (known) => Layer.provide(SharedTokenIssuer.layer({ ...options, ...known }), TokenIssuer.layer(known))
  )

/**
 * The service with a token store in memory, as an effect: its flights and its refresh Schedule end with the scope. It ends in
 * ConfigurationError where a setting is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.map(Layer.build(layer(options)), Context.get(NutritionAdvisor))

const optional = <A>(name: string, value: Config.Config<A | undefined>) =>
  value.pipe(Config.nested(name), Config.option, Config.map(Option.getOrUndefined))

const unlessBlank = Config.map(Config.string(), (text) => text.trim() === "" ? undefined : text)

const isTokenRoute = (route: string | undefined): route is TokenIssuer.TokenRoute | undefined =>
  Either.isRight(Configuration.tokenRoute(route))

const environment = (): Config.Config<Options> =>
  Config.all({
    baseUrl: Config.string("NUTRITION_ADVISOR_BASE_URL"),
    licenseKey: Config.redacted("NUTRITION_ADVISOR_LICENSE_KEY"),
    tokenRoute: optional(
      "NUTRITION_ADVISOR_TOKEN_ROUTE",
      Config.validate(unlessBlank, {
        message: "Expected advisor-licence, advisor-token, unified or a path that ends with /{key}",
        validation: isTokenRoute
      })
    ),
    serviceId: optional("NUTRITION_ADVISOR_SERVICE_ID", unlessBlank),
    serviceIdHeader: optional("NUTRITION_ADVISOR_SERVICE_ID_HEADER", unlessBlank)
  })

/**
 * The service with its settings from Config. With no argument it reads NUTRITION_ADVISOR_BASE_URL and
 * NUTRITION_ADVISOR_LICENSE_KEY and, where they are set, NUTRITION_ADVISOR_TOKEN_ROUTE, NUTRITION_ADVISOR_SERVICE_ID and
 * NUTRITION_ADVISOR_SERVICE_ID_HEADER. Building it ends in ConfigError where a setting can't be read, and in ConfigurationError
 * where it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options> = environment()
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient
> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))

/**
 * The service with a token that replicas share, and its settings from Config: those that `layerConfig` reads. Building it ends
 * in the same errors.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerSharedConfig = (
  options: Config.Config.Wrap<SharedOptions> = environment()
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient | SharedTokenCache
> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layerShared))

/**
 * The payload of a semantic food search (SERVICE.md section 4.4), as the service sent it: it is not specified, hence unknown.
 * Ends in any error of NutritionAdvisorError.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * export const payload = NutritionAdvisor.search("low sugar breakfast").pipe(
 *   Effect.catchTag("TooManyRequests", ({ retryAfter = 60 }) => Effect.logWarning(`wait ${retryAfter} s`))
 * )
 * ```
 *
 * @since 1.0.0
 * @category accessors
 */
export const search = (
  term: string,
  options?: SearchOptions
): Effect.Effect<unknown, NutritionAdvisorError, NutritionAdvisor> =>
  Effect.flatMap(NutritionAdvisor, (advisor) => advisor.search(term, options))

/**
 * The payload of a semantic food search, decoded by a schema. Ends in any error of NutritionAdvisorError; a payload of another
 * shape is UnexpectedResponse with reason "Schema".
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * const Foods = Schema.Struct({ results: Schema.Array(Schema.Struct({ name: Schema.String })) })
 *
 * export const names = NutritionAdvisor.searchAs(Foods)("oats").pipe(
 *   Effect.map(({ results }) => results.map(({ name }) => name))
 * )
 * ```
 *
 * @since 1.0.0
 * @category accessors
 */
export const searchAs = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
(
  term: string,
  options?: SearchOptions
): Effect.Effect<A, NutritionAdvisorError, R | NutritionAdvisor> =>
  Effect.flatMap(NutritionAdvisor, (advisor) => advisor.searchAs(schema)(term, options))
