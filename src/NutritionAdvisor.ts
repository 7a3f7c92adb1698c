/**
 * The client for the Nutrition Advisor service: food search, and an authorized HttpClient for all other routes.
 *
 * @since 1.0.0
 * @module
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as UrlParams from "@effect/platform/UrlParams"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { toPlatform } from "./internal/http/platform/wholeResponse.js"
import * as Send from "./internal/http/send.js"
import * as ServiceResponse from "./internal/http/serviceResponse.js"
import * as Timeouts from "./internal/http/timeouts.js"
import * as Environment from "./internal/options/environment.js"
import * as Authorized from "./internal/request/authorized.js"
import * as Build from "./internal/request/build.js"
import { makeDecode } from "./internal/request/decode.js"
import * as Metrics from "./internal/request/metrics.js"
import { makeRunner } from "./internal/request/run.js"
import { withIteratorsRead, withOptions } from "./internal/request/searchOptions.js"
import * as TokenSource from "./internal/request/tokenSource.js"
import type { RunInBackground } from "./internal/runtime/background.js"
import * as Background from "./internal/runtime/background.js"
import * as Settings from "./internal/settings/settings.js"
import { serverAttributes } from "./internal/telemetry/span.js"
import type { ConfigurationError, NutritionAdvisorError } from "./NutritionAdvisorError.js"
import type { SharedTokenCache } from "./SharedTokenCache.js"
import type * as SharedTokenIssuer from "./SharedTokenIssuer.js"
import * as TokenProvider from "./TokenProvider.js"

/**
 * Options of one search (SERVICE.md section 4.4).
 *
 * @since 1.0.0
 * @category models
 */
export interface SearchOptions {
  /** Additional query parameters. `term` is always the search term. */
  readonly urlParams?: UrlParams.Input | undefined
  /**
   * Additional request headers. The client ignores headers that belong to the connection. It also ignores `Authorization` and the header of
   * the customer identifier, because it sets both itself.
   */
  readonly headers?: Headers.Input | undefined
}

/** `any`, because Schema is invariant in its encoded type. */
type AnyEncoded = Schema.Schema.Encoded<Schema.Schema.Any>

/**
 * An Effect Schema, or a schema of any library that implements Standard Schema 1, such as zod, valibot or arktype. Asynchronous validation
 * is supported.
 *
 * @since 1.0.0
 * @category models
 */
export type AnySchema<A, I = AnyEncoded, R = never> = Schema.Schema<A, I, R> | StandardSchemaV1<unknown, A>

/**
 * Turns a schema into a search whose payload is decoded by that schema. If the payload doesn't match, the search fails with
 * `UnexpectedResponse`, reason "Schema". If a validator throws or rejects, the search dies with a defect.
 *
 * @since 1.0.0
 * @category models
 */
export type SearchAs<Client = never> = <A, I = AnyEncoded, R = never>(
  schema: AnySchema<A, I, R>
) => (term: string, options?: SearchOptions) => Effect.Effect<A, NutritionAdvisorError, R | Client>

/**
 * The calls of the client. Each one fetches, refreshes and renews the token as needed, and can fail with any `NutritionAdvisorError`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** Searches for food by meaning (SERVICE.md section 4.4), and returns the parsed JSON of the response. */
  readonly search: (term: string, options?: SearchOptions) => Effect.Effect<unknown, NutritionAdvisorError>
  /** Searches for food, and decodes the response with a schema. */
  readonly searchAs: SearchAs
  /**
   * Sends requests to all other routes of the service. URLs are relative to the base URL. It adds both authorization headers, renews
   * rejected tokens, and fails with the same errors as `search`.
   */
  readonly httpClient: HttpClient.HttpClient.With<NutritionAdvisorError>
}

/**
 * The tag of the client (SERVICE.md section 1).
 *
 * @since 1.0.0
 * @category tags
 */
export class NutritionAdvisor
  extends Context.Tag("effect-nutrition-advisor/NutritionAdvisor")<NutritionAdvisor, Service>()
{}

/**
 * The options of the client: those of the token exchange, and those of data requests. Only `baseUrl` and `licenseKey` are required.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.ExchangeOptions, Settings.DataOptions {}

const searchAttributes = { "http.request.method": "GET", "url.template": Build.searchRoute }

/** The platform redacts the header of the customer identifier in everything that it prints, while the client is open. */
const redactingServiceId = ({ serviceIdHeader }: Settings.DataSettings) => {
  const withServiceId = (names: ReadonlyArray<string | RegExp>) =>
    names.includes(serviceIdHeader) ? names : [...names, serviceIdHeader]
  return <I, E, R>(
    context: Effect.Effect<Context.Context<I>, E, R>
  ): Effect.Effect<Context.Context<I>, E, R | Scope.Scope> =>
    Effect.zipRight(Effect.locallyScopedWith(Headers.currentRedactedNames, withServiceId), context)
}

/** Builds the client from a TokenProvider and the HttpClient in the context. */
const fromTokens = (
  settings: Settings.DataSettings,
  tokens: TokenProvider.Service,
  run: RunInBackground
): Effect.Effect<Service, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const timeouts = yield* Timeouts.make(settings.requestTimeout, run)
    const send = Send.make(yield* HttpClient.HttpClient, timeouts)
    const authorized = Authorized.make(settings, tokens, send)
    const server = serverAttributes(settings.baseUrl)
    const runSearch = makeRunner("search", server)
    const runRequest = makeRunner("request", server)
    Metrics.start()

    /** The request is built at once: an option that is an iterator could not be read again. */
    const searchWith = <A, R>(
      term: string,
      given: SearchOptions | undefined,
      decode: (response: ServiceResponse.ServiceResponse) => Effect.Effect<A, NutritionAdvisorError, R>
    ) => {
      const built = withOptions(given, (options) => Build.search(settings, term, options))
      return runSearch(
        searchAttributes,
        (context) => Effect.flatMap(built, (request) => Effect.flatMap(authorized(context, request), decode))
      )
    }

    const execute = (request: HttpClientRequest.HttpClientRequest) =>
      runRequest({ "http.request.method": request.method }, (context) =>
        Build.request(settings, request).pipe(
          Effect.flatMap((built) =>
            Effect.map(
              authorized(context, built),
              (response) => toPlatform(Build.withoutToken(settings, request), built, response)
            )
          )
        ))

    return {
      search: (term, options) => searchWith(term, options, ServiceResponse.json),
      searchAs: (schema) => {
        const decode = makeDecode(schema)
        const decodedOf = (response: ServiceResponse.ServiceResponse) =>
          Effect.flatMap(ServiceResponse.json(response), (json) =>
            decode(json, ServiceResponse.fieldsWithoutBody(response)))
        return (term, options) =>
          searchWith(term, options, decodedOf)
      },
      httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
        Effect.flatMap(execute),
        Effect.succeed
      )
    }
  })

/** Builds a client and its TokenProvider. */
const clientOver = <S extends Settings.DataSettings, R>(settings: S, source: TokenSource.TokenSource<S, R>) =>
  Effect.gen(function*() {
    const run = yield* Background.make
    const tokens = yield* source(settings, run)
    const service = yield* fromTokens(settings, tokens, run)
    return Context.make(NutritionAdvisor, service).pipe(Context.add(TokenProvider.TokenProvider, tokens))
  }).pipe(redactingServiceId(settings))

type Client = Context.Context<NutritionAdvisor | TokenProvider.TokenProvider>

/**
 * Builds what `layer` provides, without a layer of its own: for a backend with thousands of clients, since each layer keeps some kB alive.
 * @internal
 */
export const fromSettings = (
  settings: Settings.ClientSettings
): Effect.Effect<Client, never, HttpClient.HttpClient | Scope.Scope> => clientOver(settings, TokenSource.own)

/** Builds what `layerShared` provides. @internal */
export const fromSharedSettings = (
  settings: Settings.SharedClientSettings
): Effect.Effect<Client, never, HttpClient.HttpClient | SharedTokenCache | Scope.Scope> =>
  clientOver(settings, TokenSource.shared)

const build = (options: Options): Effect.Effect<Client, ConfigurationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(Effect.suspend(() => Settings.parseClient(options)), fromSettings)

/**
 * A layer with a client that uses the TokenProvider in the context, for example your own, or a test double. Options of the exchange are
 * ignored. Fails with `ConfigurationError` if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerWithoutTokens = (
  options: Pick<Options, "baseUrl"> & Partial<Options>
): Layer.Layer<NutritionAdvisor, ConfigurationError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.scopedContext(Effect.gen(function*() {
    const settings = yield* Settings.parseData(options)
    const service = fromTokens(settings, yield* TokenProvider.TokenProvider, yield* Background.make)
    return yield* Effect.map(service, (service) => Context.make(NutritionAdvisor, service)).pipe(
      redactingServiceId(settings)
    )
  }))

/**
 * A layer with the client and its TokenProvider. The token is kept in memory. Build the layer once per process, since each build fetches
 * its own token. Building it sends no request. Fails with `ConfigurationError` if an option is invalid.
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
  Layer.scopedContext(build(options))

/**
 * The options of a client that shares its token with other replicas: those of the client, plus `lease` and `cacheTimeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface SharedOptions extends Options, SharedTokenIssuer.Options {}

/**
 * A layer with a client whose token all replicas share through the SharedTokenCache in the context. While the cache is down, each replica
 * exchanges the license key itself. Building it sends no request. Fails with `ConfigurationError` if an option is invalid.
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
  Layer.scopedContext(
    Effect.flatMap(Effect.suspend(() => Settings.parseSharedClient(options)), fromSharedSettings)
  )

/**
 * Creates the client. Its exchanges and its background refresh stop when the scope is closed. Fails with `ConfigurationError` if an option
 * is invalid.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<Service, ConfigurationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.map(build(options), Context.get(NutritionAdvisor))

/**
 * A layer with a client that reads its options from environment variables, or from your ConfigProvider. Options that you pass as a
 * `Config` take precedence.
 *
 * `NUTRITION_ADVISOR_BASE_URL` and `NUTRITION_ADVISOR_LICENSE_KEY` are required. Every other option, except `refresh` and
 * `rejectedStatuses`, has a variable of the same form: the variable of `tokenTimeout` is `NUTRITION_ADVISOR_TOKEN_TIMEOUT`. A blank one is
 * ignored. Durations need a unit, such as "10 seconds", and names in `NUTRITION_ADVISOR_OBSERVE_HEADERS` are separated by commas.
 *
 * Fails with `ConfigError` if a variable is missing or can't be parsed, and with `ConfigurationError` if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Partial<Config.Config.Wrap<Options>> = {}
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient
> => Environment.layerFrom(options, Settings.clientDeclarations, layer)

/**
 * Like `layerShared`, with options from environment variables or your ConfigProvider: the variables of `layerConfig`,
 * plus `NUTRITION_ADVISOR_LEASE` and `NUTRITION_ADVISOR_CACHE_TIMEOUT`.
 *
 * Fails with `ConfigError` if a variable is missing or can't be parsed, and with `ConfigurationError` if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerSharedConfig = (
  options: Partial<Config.Config.Wrap<SharedOptions>> = {}
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient | SharedTokenCache
> => Environment.layerFrom(options, Settings.sharedClientDeclarations, layerShared)

/**
 * Searches for food by meaning (SERVICE.md section 4.4), and returns the parsed JSON of the response. Can fail with any
 * `NutritionAdvisorError`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * export const payload = NutritionAdvisor.search("low sugar breakfast").pipe(
 *   Effect.catchTag("TooManyRequests", ({ retryAfter = 60 }) =>
 *     Effect.logWarning(`Try again in ${retryAfter} s`)
 *   )
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
  withIteratorsRead(options, (read) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.search(term, read)))

/**
 * Searches for food, and decodes the response with a schema. Can fail with any `NutritionAdvisorError`. If the payload doesn't match the
 * schema, the error is `UnexpectedResponse`, reason "Schema".
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
export const searchAs: SearchAs<NutritionAdvisor> = (schema) => (term, options) =>
  withIteratorsRead(
    options,
    (read) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.searchAs(schema)(term, read))
  )
