/**
 * The client for the Nutrition Advisor service: food search, and an authorized HttpClient for all other routes.
 *
 * @since 1.0.0
 * @module
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as UrlParams from "@effect/platform/UrlParams"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Environment from "./internal/options/environment.js"
import * as Assembly from "./internal/request/assembly.js"
import { copyOptions } from "./internal/request/searchOptions.js"
import * as Composition from "./internal/settings/composition.js"
import * as Settings from "./internal/settings/settings.js"
import * as Sharing from "./internal/settings/sharing.js"
import type { ConfigurationError, NutritionAdvisorError } from "./NutritionAdvisorError.js"
import type { SharedTokenCache } from "./SharedTokenCache.js"
import type * as SharedTokenIssuer from "./SharedTokenIssuer.js"
import * as TokenProvider from "./TokenProvider.js"

/**
 * Options of one search (SERVICE.md section 4).
 *
 * @since 1.0.0
 * @category models
 */
export interface SearchOptions {
  /** Additional query parameters. `term` is always the search term. */
  readonly urlParams?: UrlParams.Input | undefined
  /**
   * Additional request headers. They override `userAgent`. The client sets `Authorization` and the header of the customer identifier
   * itself. It ignores yours, and also headers that belong to the connection, `range`, and conditional headers such as `if-none-match`.
   */
  readonly headers?: Headers.Input | undefined
}

/** This is `any`, because Schema is invariant in its encoded type. */
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
  /** Searches for food by meaning (SERVICE.md section 4), and returns the parsed JSON of the response. */
  readonly search: (term: string, options?: SearchOptions) => Effect.Effect<unknown, NutritionAdvisorError>
  /** Searches for food, and decodes the response with a schema. */
  readonly searchAs: SearchAs
  /**
   * Sends requests to all other routes of the service. URLs are relative to the base URL; a request to any other URL fails with
   * `BadRequest`. The client adds the token and the customer identifier, renews rejected tokens, and fails with the same errors as
   * `search`. It reads the whole body, up to `maxResponseBytes`, before it returns a response. Any status code other than 2xx is an error.
   * Redirects are never followed.
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
 * The options of the client, for the token exchange and for data requests. Only `baseUrl` and `licenseKey` are required.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.ExchangeOptions, Settings.DataOptions {}

const build = (
  options: Options
): Effect.Effect<Assembly.ClientServices, ConfigurationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(Effect.suspend(() => Settings.parseClient(options)), Assembly.fromSettings)

/**
 * A layer with a client that uses the TokenProvider in the context, for example your own or a test double. The layer isn't memoized: each
 * TokenProvider that is provided to it gets its own client. It ignores the options of the token exchange, so that you can pass one object
 * with all options to each part of your composition. Fails with `ConfigurationError` if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerWithoutTokens = (
  options: Pick<Options, "baseUrl"> & Partial<Options>
): Layer.Layer<NutritionAdvisor, ConfigurationError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.fresh(Layer.scopedContext(Effect.gen(function*() {
    const settings = yield* Composition.parseData(options)
    return yield* Assembly.fromTokens(settings, yield* TokenProvider.TokenProvider)
  })))

/**
 * A layer with the client and its TokenProvider. The token is kept in memory. Build the layer once per process, since each build fetches
 * its own token. Building the layer sends no request. Fails with `ConfigurationError` if an option is invalid.
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
 * The options of a client that shares its token with other replicas: the options of any client, plus `lease` and `cacheTimeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface SharedOptions extends Options, SharedTokenIssuer.Options {}

/**
 * A layer with a client whose token all replicas share through the SharedTokenCache in the context. While the cache is down, each replica
 * exchanges the license key itself. Building the layer sends no request. Fails with `ConfigurationError` if an option is invalid.
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
    Effect.flatMap(Effect.suspend(() => Sharing.parseSharedClient(options)), Assembly.fromSharedSettings)
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
  options:
    | Partial<Config.Config.Wrap<Options>>
    | { readonly [K in keyof Options]?: Config.Config.Wrap<Options[K]> | undefined } = {}
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient
> => Environment.layerFromConfig(options, Settings.clientDeclarations, layer)

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
  options:
    | Partial<Config.Config.Wrap<SharedOptions>>
    | { readonly [K in keyof SharedOptions]?: Config.Config.Wrap<SharedOptions[K]> | undefined } = {}
): Layer.Layer<
  NutritionAdvisor | TokenProvider.TokenProvider,
  ConfigError.ConfigError | ConfigurationError,
  HttpClient.HttpClient | SharedTokenCache
> => Environment.layerFromConfig(options, Sharing.sharedClientDeclarations, layerShared)

/**
 * Searches for food by meaning (SERVICE.md section 4), and returns the parsed JSON of the response. Can fail with any
 * `NutritionAdvisorError`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 *
 * export const payload = NutritionAdvisor.search("low sugar breakfast").pipe(
 *   Effect.catchTag("TooManyRequests", ({ retryAfter = 60 }) =>
 *     Effect.logWarning(`Try again in ${Math.ceil(retryAfter)} s`)
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
  Effect.flatMap(
    copyOptions(options),
    (copied) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.search(term, copied))
  )

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
  Effect.flatMap(
    copyOptions(options),
    (copied) => Effect.flatMap(NutritionAdvisor, (advisor) => advisor.searchAs(schema)(term, copied))
  )
