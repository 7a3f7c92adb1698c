/**
 * The client for programs without Effect: promises that reject with the library's own errors.
 *
 * @since 1.0.0
 * @module
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { asConfigurationError } from "../internal/environment.js"
import * as Calls from "../internal/promise/calls.js"
import * as Compose from "../internal/promise/compose.js"
import * as Logger from "../internal/promise/logger.js"
import * as Web from "../internal/promise/web.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import { TokenProvider, type TokenStatus } from "../TokenProvider.js"

/**
 * The options of a client: the settings of NutritionAdvisor, and what goes around it. An option that is missing or undefined is read
 * from its variable, if it has one: NUTRITION_ADVISOR_BASE_URL, NUTRITION_ADVISOR_LICENSE_KEY and so on, as in
 * `NutritionAdvisor.layerConfig`. `lease` and `cacheTimeout` need `sharedTokenCache`.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientOptions extends Compose.Options {
  /** Receives what the library logs: pino, winston, `console`. Standard error by default. */
  readonly logger?: ClientLogger | undefined
}

/**
 * The logger of a program: pino, winston, `console`, or any object with these four methods. Each event is one call, with a message and
 * its fields, such as `error` and `status` of a failed token exchange. The message is the first argument. pino and the logger of Fastify
 * get the fields first, as they expect; a `console` gets one string. No call contains a secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientLogger extends Logger.Logger {}

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
 * if that fails, each call rejects with the error. A ConfigError becomes a ConfigurationError. The library logs to standard error,
 * unless the layer has a logger.
 *
 * @since 1.0.0
 * @category constructors
 */
export const fromLayer = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E>): Client => {
  const logging = Layer.provideMerge(Layer.mapError(layer, asConfigurationError), Logger.layerStandardError)
  const { close, run } = Calls.make(logging)
  return {
    search: searchWith(run, NutritionAdvisor.search),
    searchAs: (schema) => searchWith(run, NutritionAdvisor.searchAs(schema)),
    fetch: (path, { signal, timeout, ...init } = {}) => run("request", { signal, timeout }, fetchWith(path, init)),
    status: () => run("request", noLimits, status),
    close,
    [Symbol.asyncDispose]: close
  }
}

/**
 * Creates a client. Each option that you don't set is read from its variable. Throws a ConfigurationError if a setting is missing, wrong
 * or unknown. Sends nothing before the first call. The library logs to standard error, unless you set `logger`.
 *
 * @example
 * ```ts
 * import { createClient } from "effect-nutrition-advisor/promise"
 *
 * export const advisor = createClient({
 *   retry: true,
 *   throttle: { rate: { limit: 50, interval: "1 second" } },
 *   cache: { timeToLive: "10 minutes" }
 * })
 *
 * export const payload = await advisor.search("oats", { timeout: "5 seconds" })
 * ```
 *
 * @since 1.0.0
 * @category constructors
 */
export const createClient = (options: ClientOptions = {}): Client => fromLayer(Compose.layerOf(options))
