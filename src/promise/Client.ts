/**
 * The client for programs without Effect. Its calls return promises, which reject with the errors of this library.
 *
 * @since 1.0.0
 * @module
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Calls from "../internal/promise/calls.js"
import { servicesFrom } from "../internal/promise/compose.js"
import { fetchPath } from "../internal/promise/fetch.js"
import type { BuildServices } from "../internal/promise/forkCalls.js"
import * as Logger from "../internal/promise/logger.js"
import { checkSchema } from "../internal/request/decode.js"
import { tokenStatusOf } from "../internal/token/status.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import type * as RequestRetry from "../RequestRetry.js"
import type * as SearchCache from "../SearchCache.js"
import type { SharedTokenCache } from "../SharedTokenCache.js"
import type * as Throttle from "../Throttle.js"
import { TokenProvider, type TokenStatus } from "../TokenProvider.js"

type Optional<A> = { readonly [Name in keyof A]?: A[Name] | undefined }

type LicenseKey = string | Redacted.Redacted

type ServiceLayer<A> = Layer.Layer<A, ConfigurationError | ConfigError.ConfigError>

/**
 * The options of a client: all options of NutritionAdvisor, and others for the HttpClient, retries, throttling, caching, a shared token
 * and logging. An option that is missing or undefined is read from its environment variable, if it has one: NUTRITION_ADVISOR_BASE_URL,
 * NUTRITION_ADVISOR_LICENSE_KEY and so on, as in `NutritionAdvisor.layerConfig`. `lease` and `cacheTimeout` require `sharedTokenCache`.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientOptions extends Optional<Omit<NutritionAdvisor.SharedOptions, "licenseKey">> {
  /** The license key as a string or a Redacted, or a function that returns one. The function is called at each token exchange. */
  readonly licenseKey?: LicenseKey | (() => LicenseKey | PromiseLike<LicenseKey>) | undefined
  /**
   * The layer of the HttpClient that sends the requests. It is built at the first call. `fetch` by default; use UndiciClient for heavy
   * traffic.
   */
  readonly httpClient?: ServiceLayer<HttpClient.HttpClient> | undefined
  /** Retries failed searches, and failed GET and HEAD requests. `true`, or the options of RequestRetry. Off by default. */
  readonly retry?: boolean | RequestRetry.Options | undefined
  /** Stops sending for a while after a 429, and can limit the request rate. `true`, or the options of Throttle. Off by default. */
  readonly throttle?: boolean | Throttle.Options | undefined
  /** Caches search payloads. `true` for a `timeToLive` of one minute, or the options of SearchCache. Off by default. */
  readonly cache?: boolean | SearchCache.Options | undefined
  /** The logger for the events of this library, such as pino, winston or `console`. The library logs to standard error by default. */
  readonly logger?: ClientLogger | undefined
  /**
   * The layer of the cache through which replicas share a token, such as RedisTokenCache.layer. By default, the client doesn't share its
   * token. `createClient` builds the layer once to check it, and closes it again. The first call builds it for use.
   */
  readonly sharedTokenCache?: ServiceLayer<SharedTokenCache> | undefined
}

/**
 * The logger of your program: pino, winston, `console`, or any object with these four methods. Each event is one call with a message and
 * fields, such as `error` and `status` for a failed token exchange. The message is the first argument, except that pino, bunyan and the
 * logger of Fastify get the fields first, as they expect. A `console` gets one string. Log events never contain a secret.
 *
 * @since 1.0.0
 * @category models
 */
export interface ClientLogger {
  // These are methods, so that the overloads of pino, winston and console are assignable.
  debug(message: string, fields: Readonly<Record<string, unknown>>): void
  info(message: string, fields: Readonly<Record<string, unknown>>): void
  warn(message: string, fields: Readonly<Record<string, unknown>>): void
  error(message: string, fields: Readonly<Record<string, unknown>>): void
}

/**
 * The options that end a call early: a signal and a timeout.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallLimits {
  /** Aborts the call. The promise rejects with the signal's `reason`. */
  readonly signal?: AbortSignal | null | undefined
  /**
   * The timeout of the whole call, including the token exchange, waits and retries. A number means milliseconds. If it elapses, the promise
   * rejects with TransportError, reason "Timeout". No timeout by default, but `requestTimeout` and `tokenTimeout` always apply to each
   * request and each exchange.
   */
  readonly timeout?: Duration.DurationInput | undefined
}

/**
 * The options of one search: the same as with Effect, plus `signal` and `timeout`.
 *
 * @since 1.0.0
 * @category models
 */
export interface CallOptions extends NutritionAdvisor.SearchOptions, CallLimits {}

/**
 * The options of one request: the options of fetch, plus `timeout`. Only `method`, `headers`, `body` and the limits are used.
 *
 * @since 1.0.0
 * @category models
 */
export interface FetchOptions extends Omit<RequestInit, "signal">, CallLimits {}

/**
 * The client with promises. A promise rejects with an error of this module, with the reason of its signal, or with what your own code,
 * such as a layer or a schema, throws.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client extends AsyncDisposable {
  /** Searches for foods. Resolves with the payload as the service sent it. */
  readonly search: (term: string, options?: CallOptions) => Promise<unknown>
  /**
   * Searches for foods, and decodes the payload with a schema of zod, valibot, arktype or Effect. Rejects with UnexpectedResponse, reason
   * "Schema", if the payload doesn't match. Throws a TypeError if the schema is of another kind.
   */
  readonly searchAs: <A, I = Schema.Schema.Encoded<Schema.Schema.Any>>(
    schema: NutritionAdvisor.AnySchema<A, I>
  ) => (term: string, options?: CallOptions) => Promise<A>
  /** Sends a request to any other route, relative to the base URL. Rejects if the response is not 2xx; redirects are not followed. */
  readonly fetch: (path: string, options?: FetchOptions) => Promise<Response>
  /** Returns the state of the token, for health checks. The state is "none" if the layer has no TokenProvider. */
  readonly status: () => Promise<TokenStatus>
  /**
   * Closes the client. Pending calls reject with TransportError, reason "Closed". The timer that refreshes the token and keeps the process
   * alive is stopped.
   */
  readonly close: () => Promise<void>
}

const noLimits: CallLimits = {}

const status = Effect.flatMap(
  Effect.serviceOption(TokenProvider),
  Option.match({
    onNone: () => Effect.sync(() => tokenStatusOf(Option.none(), Option.none())),
    onSome: (provider) => provider.status
  })
)

const clientOver = (buildServices: BuildServices): Client => {
  const { close, run } = Calls.make(buildServices)

  /** Passes all other options to the service, which may support more of them than this module knows. */
  const searchWith = <A>(
    search: (
      term: string,
      options?: NutritionAdvisor.SearchOptions
    ) => Effect.Effect<A, unknown, NutritionAdvisor.NutritionAdvisor>
  ) =>
  (term: string, options?: CallOptions): Promise<A> => {
    if (!options) return run("search", noLimits, () => search(term))
    const { signal, timeout, ...others } = options
    return run("search", { signal, timeout }, () => search(term, others))
  }

  return {
    search: searchWith(NutritionAdvisor.search),
    searchAs: (schema) => {
      checkSchema(schema)
      return searchWith(NutritionAdvisor.searchAs(schema))
    },
    fetch: (path, options) => {
      const fetchOptions = options ?? {}
      return run("request", fetchOptions, () => fetchPath(path, fetchOptions))
    },
    status: () => run("request", noLimits, () => status),
    close,
    [Symbol.asyncDispose]: close
  }
}

/**
 * Creates a client from your own layer, such as a composition of the Effect modules or a test double. The first call builds the layer. If
 * that fails, every call rejects with the error. A ConfigError becomes a ConfigurationError. The library logs to standard error, unless the
 * layer sets a logger.
 *
 * @since 1.0.0
 * @category constructors
 */
export const fromLayer = <E>(layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E>): Client =>
  clientOver(Logger.withLogger(undefined, Layer.build(layer)))

/**
 * Creates a client. Options that you don't set are read from their environment variables. Throws a ConfigurationError if an option is
 * missing, invalid or unknown. Nothing is sent before the first call. The library logs to standard error, unless you set `logger`.
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
export const createClient = (options: ClientOptions = {}): Client => clientOver(servicesFrom(options))
