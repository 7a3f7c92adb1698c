/**
 * The client for programs without Effect: promises that reject with the library's own errors.
 *
 * @since 1.0.0
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { asConfigurationError } from "../internal/environment.js"
import * as Calls from "../internal/promise/calls.js"
import * as Settings from "../internal/promise/settings.js"
import * as Web from "../internal/promise/web.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import { TokenProvider, type TokenStatus } from "../TokenProvider.js"

/**
 * The settings of the client: those of NutritionAdvisor. `licenseKey` is a text, Redacted, or a function that gives one and is called at
 * each exchange, so that a rotated key is picked up.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientOptions extends Settings.Given {
  /** What sends the requests, built at the first call; fetch by default, UndiciClient for heavy traffic. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient, ConfigurationError> | undefined
}

/**
 * What one search adds to its request, and the signal that ends it: the promise rejects with its `reason`.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallOptions extends NutritionAdvisor.SearchOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The calls of the service as promises. Each rejects with an error of this module, with the reason of its signal, or with what a part of
 * yours has thrown.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client extends AsyncDisposable {
  /** The payload of a semantic food search, as the service sent it. */
  readonly search: (term: string, options?: CallOptions) => Promise<unknown>
  /** The same, decoded by a schema of zod, valibot, arktype or effect. Another shape is UnexpectedResponse with reason "Schema". */
  readonly searchAs: <A, I = Schema.Schema.Encoded<Schema.Schema.Any>>(
    schema: NutritionAdvisor.AnySchema<A, I>
  ) => (term: string, options?: CallOptions) => Promise<A>
  /** Any other route, relative to the base URL. An answer that is not 2xx rejects, a redirect too. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** What is known of the token, for health pages; "none" where the layer has no TokenProvider. */
  readonly status: () => Promise<TokenStatus>
  /** Ends what is under way in TransportError "Aborted", and the refresh of the token, which keeps the process alive. */
  readonly close: () => Promise<void>
}

const fetchWith = (path: string, init: RequestInit | undefined) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => Web.fetchThrough(httpClient, path, init))

const noStatus: TokenStatus = { state: "none", expiresAt: Option.none(), lastFailure: Option.none() }

const status = Effect.flatMap(
  Effect.serviceOption(TokenProvider),
  Option.match({ onNone: () => Effect.succeed(noStatus), onSome: (provider) => provider.status })
)

/**
 * A client over a layer of your own, such as SearchCache or a double: the first call builds it. A ConfigError of it is ConfigurationError.
 *
 * @since 1.0.0
 * @category constructors
 */
export const fromLayer = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E>): Client => {
  const { close, run } = Calls.make(Layer.mapError(layer, asConfigurationError))
  return {
    search: (term, options) => run("search", options?.signal, NutritionAdvisor.search(term, options)),
    searchAs: (schema) => {
      const search = NutritionAdvisor.searchAs(schema)
      return (term, options) => run("search", options?.signal, search(term, options))
    },
    fetch: (path, init) => run("request", init?.signal, fetchWith(path, init)),
    status: () => run("request", undefined, status),
    close,
    [Symbol.asyncDispose]: close
  }
}

type OfVariables = Partial<Readonly<Record<keyof Settings.Given, never>>> & Pick<ClientOptions, "httpClient">

const hasSettings = (given: object): given is Settings.Given =>
  Object.values(given).some((value) => value !== undefined)

const onStandardError = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))

/**
 * A client with the given settings, or with those of the variables that `layerConfig` reads, if no more than `httpClient` is given. It
 * throws a ConfigurationError where one is wrong, and starts nothing before the first call. Failed exchanges are logged on standard error.
 *
 * @since 1.0.0
 * @category constructors
 */
export const createClient = (options: OfVariables | ClientOptions = {}): Client => {
  const { httpClient = Web.fetchLayer, ...given } = options
  const settings = Settings.read(hasSettings(given) ? given : undefined)
  const layer = Layer.provide(NutritionAdvisor.layer(settings), httpClient)
  return fromLayer(Layer.provideMerge(layer, onStandardError))
}
