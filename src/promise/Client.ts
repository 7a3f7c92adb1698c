/**
 * The client for programs without Effect: promises that reject with the library's own errors.
 *
 * @since 1.0.0
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Duration from "effect/Duration"
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
 * What ends a call early.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallLimits {
  /** Aborts the call: the promise rejects with the `reason` of the signal. */
  readonly signal?: AbortSignal | null | undefined
  /**
   * The time for the whole call, with the token exchange, waits and retries; a number is in milliseconds. After it the promise rejects
   * with TransportError, reason "Timeout". None by default: `requestTimeout` and `tokenTimeout` apply to each request and exchange.
   */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * The options of one search: `urlParams` and `headers` to add to its request, `signal` and `timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallOptions extends NutritionAdvisor.SearchOptions, CallLimits {}

/**
 * The options of one request: those of fetch, and `timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface FetchOptions extends Omit<RequestInit, "signal">, CallLimits {}

/**
 * The calls of the service as promises. A promise rejects with an error of this module, with the reason of its signal, or with what your
 * own code has thrown, such as a layer or a schema.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client extends AsyncDisposable {
  /** Searches for foods. Returns the payload as the service sent it. */
  readonly search: (term: string, options?: CallOptions) => Promise<unknown>
  /** Searches for foods, and decodes the payload with a schema of zod, valibot, arktype or effect. A mismatch is UnexpectedResponse "Schema". */
  readonly searchAs: <A, I = Schema.Schema.Encoded<Schema.Schema.Any>>(
    schema: NutritionAdvisor.AnySchema<A, I>
  ) => (term: string, options?: CallOptions) => Promise<A>
  /** Sends a request to any other route, relative to the base URL. A response that is not 2xx rejects, and so does a redirect. */
  readonly fetch: (path: string, options?: FetchOptions) => Promise<Response>
  /** The state of the token, for health checks; "none" if the layer has no TokenProvider. */
  readonly status: () => Promise<TokenStatus>
  /** Ends pending calls with TransportError "Closed", and stops the timer that refreshes the token and keeps the process alive. */
  readonly close: () => Promise<void>
}

const fetchWith = (path: string, init: RequestInit) =>
  Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => Web.fetchThrough(httpClient, path, init))

const noLimits: CallLimits = {}

const noStatus: TokenStatus = { state: "none", expiresAt: Option.none(), lastFailure: Option.none() }

const status = Effect.flatMap(
  Effect.serviceOption(TokenProvider),
  Option.match({ onNone: () => Effect.succeed(noStatus), onSome: (provider) => provider.status })
)

/** What is left of the options is for the service, which may know more of them than this module. */
const searchWith = <A>(
  run: Calls.Calls["run"],
  search: (
    term: string,
    options?: NutritionAdvisor.SearchOptions
  ) => Effect.Effect<A, unknown, NutritionAdvisor.NutritionAdvisor>
) =>
(term: string, options?: CallOptions): Promise<A> => {
  if (options === undefined) return run("search", noLimits, search(term))
  const { signal, timeout, ...others } = options
  return run("search", { signal, timeout }, search(term, others))
}

/**
 * Creates a client over your own layer, such as a composition of the Effect modules or a test double. The first call builds the layer;
 * if that fails, each call rejects with the error. A ConfigError becomes a ConfigurationError.
 *
 * @since 1.0.0
 * @category constructors
 */
export const fromLayer = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E>): Client => {
  const { close, run } = Calls.make(Layer.mapError(layer, asConfigurationError))
  return {
    search: searchWith(run, NutritionAdvisor.search),
    searchAs: (schema) => searchWith(run, NutritionAdvisor.searchAs(schema)),
    fetch: (path, { signal, timeout, ...init } = {}) => run("request", { signal, timeout }, fetchWith(path, init)),
    status: () => run("request", noLimits, status),
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
