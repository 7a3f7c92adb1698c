/**
 * A lean HttpClient over the undici of @effect/platform-node: a pool of connections per origin, and a fast path that returns a whole
 * response in one step.
 *
 * @since 1.0.0
 * @module
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { count, known, millis, namesOf } from "../internal/check.js"
import * as Environment from "../internal/environment.js"
import { type BufferedRequest, type Dispatch, withDispatch } from "../internal/http/dispatch.js"
import { written } from "../internal/undici/body.js"
import { BufferedHandler } from "../internal/undici/handler.js"
import { ConfigurationError } from "../NutritionAdvisorError.js"

/**
 * How connections are made and kept. Durations that are numbers are milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The most connections to one origin at a time; 64 by default. Further requests wait for one of them. */
  readonly connections?: number | undefined
  /** How long an idle connection stays open, unless the server says otherwise; 4 seconds by default. */
  readonly keepAliveTimeout?: Duration.DurationInput | undefined
  /** The time for opening a connection; 10 seconds by default. */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /** The time from the last byte of the request to the end of the response headers; 5 minutes by default. */
  readonly headersTimeout?: Duration.DurationInput | undefined
  /** The longest time between two pieces of a body; 5 minutes by default. */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /**
   * The largest body of a response, in bytes on the wire; none by default. NutritionAdvisor has a bound of its own, and the smaller
   * of the two counts.
   */
  readonly maxResponseBytes?: number | undefined
  /** Options of undici's Agent, such as `connect` for TLS or `localAddress`; they win over the options above. */
  readonly undici?: Undici.Agent.Options | undefined
}

/** Seen by undici's redirect interceptor, which would send the headers on. */
const unredirected = { maxRedirections: 0 }

/** In place of those that the stock client gives each request: an hour for the headers, none for the body. */
const timeoutsOfDispatcher = { headersTimeout: null, bodyTimeout: null }

const dispatchOver = (dispatcher: Undici.Dispatcher): Dispatch<BufferedRequest> => (request, receiver) => {
  const handler = new BufferedHandler(receiver)
  try {
    const { method, origin, path } = request
    dispatcher.dispatch({ origin, path, method, ...written(request), ...unredirected }, handler)
  } catch (cause) {
    handler.onResponseError(undefined, cause)
  }
  return () => {
    handler.cancel()
    return Effect.void
  }
}

let loading: Promise<typeof NodeHttpClient> | undefined

/** The platform's own client, loaded when the first request is sent that can't take the fast path. */
const stockOf = (dispatcher: Undici.Dispatcher) => {
  const stock = dispatcher.compose((dispatch) => (options, handler) =>
    dispatch({ ...options, ...unredirected, ...timeoutsOfDispatcher }, handler)
  )
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.tryPromise({
      try: async () => (await (loading ??= import("@effect/platform-node/NodeHttpClient"))).makeUndici(stock),
      catch: (cause) => new HttpClientError.RequestError({ request, reason: "Transport", cause })
    })
}

/** The stock client leaves a form to undici, to which Node's own is foreign, and parameters as they are. */
const asWritten = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
  const { body } = request
  if (body._tag !== "FormData" && body._tag !== "Raw") return request
  const sent = written({ body, headers: request.headers })
  return HttpClientRequest.setBody(request, HttpBody.raw(sent.body)).pipe(HttpClientRequest.setHeaders(sent.headers))
}

const over = (dispatcher: Undici.Dispatcher): HttpClient.HttpClient => {
  const stock = stockOf(dispatcher)
  return withDispatch(
    HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap((request) => Effect.flatMap(stock(request), (client) => client.execute(asWritten(request)))),
      Effect.succeed
    ),
    dispatchOver(dispatcher)
  )
}

/**
 * A client over an undici dispatcher of one's own: an Agent, a ProxyAgent, a MockAgent. It stays open.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeFromDispatcher = (dispatcher: Undici.Dispatcher): Effect.Effect<HttpClient.HttpClient> =>
  Effect.sync(() => over(dispatcher))

/**
 * The client over an undici dispatcher of one's own.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromDispatcher = (dispatcher: Undici.Dispatcher): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, makeFromDispatcher(dispatcher))

const names = namesOf<Options>({
  connections: true,
  keepAliveTimeout: true,
  connectTimeout: true,
  headersTimeout: true,
  bodyTimeout: true,
  maxResponseBytes: true,
  undici: true
})

const agentOptions = (options: Options): Effect.Effect<Undici.Agent.Options, ConfigurationError> =>
  Effect.gen(function*() {
    yield* known(options, names)
    const { maxResponseBytes, undici = {} } = options
    const timeout = yield* millis("connectTimeout", options.connectTimeout ?? "10 seconds")
    return {
      connections: yield* count("connections", options.connections ?? 64),
      keepAliveTimeout: yield* millis("keepAliveTimeout", options.keepAliveTimeout ?? "4 seconds"),
      headersTimeout: yield* millis("headersTimeout", options.headersTimeout ?? "5 minutes"),
      bodyTimeout: yield* millis("bodyTimeout", options.bodyTimeout ?? "5 minutes"),
      ...maxResponseBytes !== undefined && { maxResponseSize: yield* count("maxResponseBytes", maxResponseBytes) },
      ...undici,
      connect: typeof undici.connect === "function" ? undici.connect : { timeout, ...undici.connect }
    }
  })

const isMissing = (cause: unknown) => Predicate.hasProperty(cause, "code") && /MODULE_NOT_FOUND/.test(`${cause.code}`)

const loadUndici = Effect.tryPromise({
  try: async () => {
    const module = await import("@effect/platform-node/Undici")
    // Rollup bundles undici with its names in `default` alone.
    return Object.hasOwn(module, "Agent") ? module : module.default
  },
  catch: (cause) =>
    new ConfigurationError({
      field: "httpClient",
      rule: isMissing(cause)
        ? "needs @effect/platform-node for UndiciClient: npm install @effect/platform-node@^0.108"
        : `can't be UndiciClient, since undici does not load (${cause}): leave it out of a bundle`
    })
}).pipe(
  // Bun puts a package of its own in place of undici, whose Agent is empty.
  Effect.filterOrFail(({ Agent }) => "dispatch" in Agent.prototype, () =>
    new ConfigurationError({
      field: "httpClient",
      rule: "can't be UndiciClient, since this runtime has no undici: take FetchHttpClient.layer"
    }))
)

/**
 * A client with a pool of connections to each origin, which end with the scope. Ends in ConfigurationError where a setting is
 * wrong, @effect/platform-node is not installed, or the runtime is Bun.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpClient.HttpClient, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const settings = yield* agentOptions(options)
    const { Agent } = yield* loadUndici
    const agent = yield* Effect.acquireRelease(
      Effect.try({
        try: () => new Agent(settings),
        catch: () => new ConfigurationError({ field: "undici", rule: "holds options that undici's Agent rejects" })
      }),
      (agent) => Effect.promise(() => agent.destroy())
    )
    return over(agent)
  })

/**
 * The client with a pool of connections to each origin. Building it ends in ConfigurationError where a setting is wrong, and
 * does not connect.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { NutritionAdvisor } from "effect-nutrition-advisor"
 * import { UndiciClient } from "effect-nutrition-advisor/undici"
 *
 * export const Advisor = NutritionAdvisor.layerConfig().pipe(
 *   Layer.provide(UndiciClient.layer({ connections: 16 }))
 * )
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<HttpClient.HttpClient, ConfigurationError> =>
  Layer.scoped(HttpClient.HttpClient, make(options))

/**
 * The client with its settings from Config: those that are given, and for the others, where they are set, the variables
 * NUTRITION_ADVISOR_CONNECTIONS, NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT, _CONNECT_TIMEOUT, _HEADERS_TIMEOUT, _BODY_TIMEOUT, durations
 * as in "4 seconds". Building it ends in ConfigError where a setting can't be read, and
 * in ConfigurationError where it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Partial<Config.Config.Wrap<Options>> = {}
): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError | ConfigurationError> =>
  Environment.layerFrom(options, {
    connections: Environment.wholeNumber("connections"),
    keepAliveTimeout: Environment.duration("keepAliveTimeout"),
    connectTimeout: Environment.duration("connectTimeout"),
    headersTimeout: Environment.duration("headersTimeout"),
    bodyTimeout: Environment.duration("bodyTimeout")
  }, layer)
