/**
 * The Nutrition Advisor service: food search, and an authorized HttpClient for every other route.
 *
 * @since 1.0.0
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
import type { RunInBackground } from "./internal/background.js"
import * as Background from "./internal/background.js"
import * as Environment from "./internal/environment.js"
import * as Answer from "./internal/http/answer.js"
import * as HttpClientBoundary from "./internal/http/client.js"
import * as Platform from "./internal/http/platform.js"
import * as Timeouts from "./internal/http/timeouts.js"
import * as Url from "./internal/http/url.js"
import * as Metrics from "./internal/metrics.js"
import * as Authorized from "./internal/request/authorized.js"
import * as Build from "./internal/request/build.js"
import { makeDecode } from "./internal/request/decode.js"
import { makeRunner } from "./internal/request/run.js"
import * as Settings from "./internal/settings.js"
import * as TokenSource from "./internal/tokenSource.js"
import type { ConfigurationError, NutritionAdvisorError } from "./NutritionAdvisorError.js"
import type { SharedTokenCache } from "./SharedTokenCache.js"
import type * as SharedTokenIssuer from "./SharedTokenIssuer.js"
import * as TokenProvider from "./TokenProvider.js"

/**
 * What a search may add to its request beside the term (SERVICE.md section 4.4).
 *
 * @since 1.0.0
 * @category models
 */
export interface SearchOptions {
  /** Further query parameters; `term` is the search's own. */
  readonly urlParams?: UrlParams.Input | undefined
  /** Further headers; those of SERVICE.md section 5 and of the connection are the client's own. */
  readonly headers?: Headers.Input | undefined
}

/** `any`, since Schema is invariant in what it encodes to. */
type AnyEncoded = Schema.Schema.Encoded<Schema.Schema.Any>

/**
 * A schema of `effect/Schema`, or of any library that follows Standard Schema 1, such as zod, valibot or arktype, which may validate at
 * once or with a promise.
 *
 * @since 1.0.0
 * @category models
 */
export type AnySchema<A, I = AnyEncoded, R = never> = Schema.Schema<A, I, R> | StandardSchemaV1<unknown, A>

/**
 * A search that a schema decodes. A payload that it refuses is UnexpectedResponse with reason "Schema"; a validator that throws or
 * rejects is a defect.
 *
 * @since 1.0.0
 * @category models
 */
export type SearchAs<Client = never> = <A, I = AnyEncoded, R = never>(
  schema: AnySchema<A, I, R>
) => (term: string, options?: SearchOptions) => Effect.Effect<A, NutritionAdvisorError, R | Client>

/**
 * The calls of the service, each with a token that renews itself; each can end in any error of NutritionAdvisorError.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The payload of a semantic food search (SERVICE.md section 4.4), as the service sent it. */
  readonly search: (term: string, options?: SearchOptions) => Effect.Effect<unknown, NutritionAdvisorError>
  /** The same, decoded; a payload of another shape is UnexpectedResponse with reason "Schema". */
  readonly searchAs: SearchAs
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
 * The settings of the service: those of the TokenIssuer, and those of the data requests.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.ExchangeOptions, Settings.DataOptions {}

const searchAttributes = { "http.request.method": "GET", "url.template": Build.searchRoute }

/** While it is open, programs over it print the header of the identifier redacted. */
const redactServiceId = ({ serviceIdHeader }: Settings.DataSettings) =>
  Effect.locallyScopedWith(
    Headers.currentRedactedNames,
    (names) => names.includes(serviceIdHeader) ? names : [...names, serviceIdHeader]
  )

/** The service over the HttpClient in the context. */
const fromTokens = (
  settings: Settings.DataSettings,
  tokens: TokenProvider.Service,
  run: RunInBackground
): Effect.Effect<Service, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    yield* redactServiceId(settings)
    const timeouts = yield* Timeouts.make(settings.requestTimeout, run)
    const send = HttpClientBoundary.make(yield* HttpClient.HttpClient, timeouts)
    const authorized = Authorized.make({ ...settings, tokens, send })
    const server = Url.serverAttributes(settings.base)
    const runSearch = makeRunner("search", server)
    const runRequest = makeRunner("request", server)
    yield* Effect.sync(Metrics.startClient)

    /** The request is built at once: an option that is an iterator could not be read again. */
    const searchWith = <A, R>(
      term: string,
      given: SearchOptions | undefined,
      decode: (answer: Answer.Answer) => Effect.Effect<A, NutritionAdvisorError, R>
    ) => {
      const built = Build.withOptions(given, (options) => Build.search(settings, term, options))
      return runSearch(
        searchAttributes,
        (run) => Effect.flatMap(built, (request) => Effect.flatMap(authorized(run, request), decode))
      )
    }

    const execute = (request: HttpClientRequest.HttpClientRequest) =>
      runRequest({ "http.request.method": request.method }, (run) =>
        Build.below(settings, request).pipe(
          Effect.flatMap((built) =>
            Effect.map(
              authorized(run, built),
              (answer) => Platform.responseOf(Build.withoutToken(settings, request), built, answer)
            )
          )
        ))

    return {
      search: (term, options) => searchWith(term, options, Answer.json),
      searchAs: (schema) => {
        const decode = makeDecode(schema)
        const decodedOf = (answer: Answer.Answer) =>
          Effect.flatMap(Answer.json(answer), (json) => decode(json, Answer.fieldsWithoutBody(answer)))
        return (term, options) => searchWith(term, options, decodedOf)
      },
      httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
        Effect.flatMap(execute),
        Effect.succeed
      )
    }
  })

/** A client and the tokens under it. */
const clientOver = <S extends Settings.DataSettings, R>(settings: S, source: TokenSource.TokenSource<S, R>) =>
  Effect.gen(function*() {
    const run = yield* Background.make
    const tokens = yield* source(settings, run)
    return { tokens, service: yield* fromTokens(settings, tokens, run) }
  })

const makeOwn = (options: Options) =>
  Effect.suspend(() =>
    Effect.flatMap(Settings.parseClient(options), (settings) => clientOver(settings, TokenSource.own))
  )

type Built = Effect.Effect.Success<ReturnType<typeof clientOver>>

const layerOf = <E, R>(client: Effect.Effect<Built, E, R>) =>
  Layer.scopedContext(
    Effect.map(client, ({ service, tokens }) =>
      Context.make(NutritionAdvisor, service).pipe(Context.add(TokenProvider.TokenProvider, tokens)))
  )

/**
 * The service over the TokenProvider in the context, to use one of your own: tokens of a vault, a double. What concerns the exchange is
 * not read. Building it ends in ConfigurationError if a setting is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerWithoutTokens = (
  options: Pick<Options, "baseUrl"> & Partial<Options>
): Layer.Layer<NutritionAdvisor, ConfigurationError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.scoped(
    NutritionAdvisor,
    Effect.gen(function*() {
      const settings = yield* Settings.parseData(options)
      return yield* fromTokens(settings, yield* TokenProvider.TokenProvider, yield* Background.make)
    })
  )

/**
 * The service with a token store in memory. Build it once for a process: each build gets a token of its own. Building it sends
 * nothing, and ends in ConfigurationError if a setting is wrong.
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
  layerOf(makeOwn(options))

/**
 * The settings of a client that shares its token: those of the service, and two for the sharing.
 *
 * @since 1.0.0
 * @category models
 */
export interface SharedOptions extends Options, SharedTokenIssuer.Options {}

/**
 * The service with a token that all replicas share through the SharedTokenCache in the context. While the cache fails, each
 * replica exchanges by itself. Building it sends nothing, and ends in ConfigurationError if a setting is wrong.
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
  layerOf(
    Effect.suspend(() =>
      Effect.flatMap(Settings.parseSharedClient(options), (settings) => clientOver(settings, TokenSource.shared))
    )
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
  Effect.map(makeOwn(options), ({ service }) => service)

/**
 * The service with its settings from Config: those that are given, and for the others the variables NUTRITION_ADVISOR_BASE_URL,
 * _LICENSE_KEY and, where they are set and not blank, _TOKEN_ROUTE, _SERVICE_ID, _SERVICE_ID_HEADER, _TOKEN_TIMEOUT,
 * _REQUEST_TIMEOUT, _MAX_RESPONSE_BYTES, _ALLOW_INSECURE_HTTP, _USER_AGENT and _OBSERVE_HEADERS (names with commas between them).
 * Durations have their unit: "10 seconds". Ends in ConfigError where a setting can't be read, in ConfigurationError where it is wrong.
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
> => Environment.layerFrom(options, Environment.advisor(), layer)

/**
 * `layerShared` with its settings from Config: the variables of `layerConfig`, NUTRITION_ADVISOR_LEASE and _CACHE_TIMEOUT. Ends in
 * ConfigError where a setting can't be read, in ConfigurationError where it is wrong.
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
> => Environment.layerFrom(options, Environment.sharedAdvisor(), layerShared)

/**
 * The payload of a semantic food search (SERVICE.md section 4.4), as the service sent it. Ends in any error of NutritionAdvisorError.
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
  Build.withIteratorsRead(options, (read) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.search(term, read)))

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
export const searchAs: SearchAs<NutritionAdvisor> = (schema) => (term, options) =>
  Build.withIteratorsRead(
    options,
    (read) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.searchAs(schema)(term, read))
  )
