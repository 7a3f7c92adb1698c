/**
 * A lean HttpClient over undici 7: a pool of connections per origin, and the shortest way from the wire to a search's answer.
 *
 * @since 1.0.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Undici from "undici"
import { SendWhole } from "../internal/sendWhole.js"
import { Incoming } from "../internal/undici/incoming.js"
import * as Refusal from "../internal/undici/refusal.js"
import { UndiciResponse } from "../internal/undici/undiciResponse.js"
import { WholeBody } from "../internal/undici/wholeBody.js"
import { written } from "../internal/undici/written.js"
import { ConfigurationError } from "../NutritionAdvisorError.js"

/**
 * How large a body may be, whatever the connections are.
 *
 * @since 1.0.0
 * @category models
 */
export interface BodyOptions {
  /**
   * The largest body of an answer, in bytes, as it comes over the wire; 16 MiB by default. Where NutritionAdvisor is given this
   * client as it is, its own `maxResponseBytes` rules instead; with something around the client, or a Stream as the body of the
   * request, the smaller of the two does.
   */
  readonly maxResponseBytes?: number | undefined
}

/**
 * How connections are made and kept. Durations that are numbers are milliseconds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends BodyOptions {
  /** The most connections to one origin at a time; 64 by default. Further requests wait for one of them. */
  readonly connections?: number | undefined
  /** How long a connection stays open with nothing to do, where the server does not say; 4 seconds by default. */
  readonly keepAliveTimeout?: Duration.DurationInput | undefined
  /** The time in which a connection must stand; 10 seconds by default. */
  readonly connectTimeout?: Duration.DurationInput | undefined
  /** The time from the request's last byte to the end of the answer's headers; 5 minutes by default. */
  readonly headersTimeout?: Duration.DurationInput | undefined
  /** The longest time between two pieces of a body; 5 minutes by default. */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /** Settings of undici's own, such as `connect` for TLS or `localAddress`; they win over those of this module. */
  readonly undici?: Undici.Agent.Options | undefined
}

const maxBytesOf = ({ maxResponseBytes: bytes = 16 * 1024 * 1024 }: BodyOptions) =>
  Number.isSafeInteger(bytes) && bytes > 0
    ? Either.right(bytes)
    : Either.left(new ConfigurationError({ field: "maxResponseBytes" }))

const sendWhole = (dispatcher: Undici.Dispatcher, refusal: Refusal.Refusal): SendWhole => (request, receiver) => {
  const handler = new WholeBody(receiver, refusal)
  try {
    const sent = written(request)
    handler.carry(sent.body)
    dispatcher.dispatch({
      origin: request.origin,
      path: request.path,
      method: request.method,
      ...sent
    }, handler)
  } catch (cause) {
    handler.onResponseError(undefined, cause as Error)
  }
  return handler
}

const ask = (
  dispatcher: Undici.Dispatcher,
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  signal: AbortSignal,
  maxBytes: number,
  refusal: Refusal.Refusal
) =>
  Effect.flatMap(
    Effect.runtime<never>(),
    (runtime) =>
      Effect.async<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError>((resume) => {
        const incoming = new Incoming(maxBytes, {
          onHead: ({ fields, status }) => resume(Effect.succeed(new UndiciResponse(request, status, fields, incoming))),
          onFailure: (cause) =>
            resume(Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport", cause })))
        }, refusal)
        const abandon = () => incoming.abandon()
        signal.addEventListener("abort", abandon, { once: true })
        try {
          const sent = written(request, runtime)
          incoming.carry(sent.body)
          dispatcher.dispatch({
            origin: url.origin,
            path: url.pathname + url.search,
            method: request.method,
            ...sent
          }, incoming)
        } catch (cause) {
          incoming.onResponseError(undefined, cause as Error)
        }
        return Effect.sync(abandon)
      })
  )

const over = (dispatcher: Undici.Dispatcher, options: BodyOptions, refusal: Refusal.Refusal) =>
  Effect.map(maxBytesOf(options), (maxBytes) =>
    Object.assign(
      HttpClient.make((request, url, signal) => ask(dispatcher, request, url, signal, maxBytes, refusal)),
      { [SendWhole]: sendWhole(dispatcher, refusal) }
    ))

/**
 * A client over an undici dispatcher of one's own: an Agent, a ProxyAgent, a MockAgent. It stays open. Ends in
 * ConfigurationError where `maxResponseBytes` is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeFromDispatcher = (
  dispatcher: Undici.Dispatcher,
  options: BodyOptions = {}
): Effect.Effect<HttpClient.HttpClient, ConfigurationError> => over(dispatcher, options, Refusal.byAbort)

/**
 * The client over an undici dispatcher of one's own. Building it ends in ConfigurationError where `maxResponseBytes` is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromDispatcher = (
  dispatcher: Undici.Dispatcher,
  options?: BodyOptions
): Layer.Layer<HttpClient.HttpClient, ConfigurationError> =>
  Layer.effect(HttpClient.HttpClient, makeFromDispatcher(dispatcher, options))

type Timeout = "keepAliveTimeout" | "connectTimeout" | "headersTimeout" | "bodyTimeout"

const millis = (
  field: Timeout,
  value: Duration.DurationInput | undefined,
  standard: number
): Either.Either<number, ConfigurationError> =>
  Either.fromOption(
    Option.filter(
      Option.map(Duration.decodeUnknown(value ?? standard), Duration.toMillis),
      (millis) => millis > 0 && millis < 2 ** 31
    ),
    () => new ConfigurationError({ field })
  )

const settings = (options: Options): Either.Either<Undici.Agent.Options, ConfigurationError> =>
  Either.gen(function*() {
    const { connections = 64, undici: { connect } = {} } = options
    if (!Number.isInteger(connections) || connections <= 0) {
      return yield* Either.left(new ConfigurationError({ field: "connections" }))
    }
    const connectTimeout = yield* millis("connectTimeout", options.connectTimeout, 10_000)
    return {
      connections,
      keepAliveTimeout: yield* millis("keepAliveTimeout", options.keepAliveTimeout, 4_000),
      headersTimeout: yield* millis("headersTimeout", options.headersTimeout, 300_000),
      bodyTimeout: yield* millis("bodyTimeout", options.bodyTimeout, 300_000),
      ...options.undici,
      connect: typeof connect === "function" ? connect : { timeout: connectTimeout, ...connect }
    }
  })

/** Most settings are looked at by a Client alone, and an Agent makes its first one for the first request. */
const agentOf = (options: Undici.Agent.Options): Undici.Agent => {
  if (options.factory === undefined) new Undici.Client("http://localhost", options)
  return new Undici.Agent(options)
}

/**
 * A client with a pool of connections to each origin, which end with the scope. Ends in ConfigurationError where a setting is
 * wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpClient.HttpClient, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const agentOptions = yield* settings(options)
    const agent = yield* Effect.acquireRelease(
      Effect.try({
        try: () => agentOf(agentOptions),
        catch: () => new ConfigurationError({ field: "undici" })
      }),
      (agent) => Effect.promise(() => agent.destroy())
    )
    const isComposed = agentOptions.factory !== undefined || agentOptions.interceptors !== undefined
    return yield* over(agent, options, isComposed ? Refusal.byAbort : Refusal.byThrow)
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

const optional = <A>(config: Config.Config<A>) => Config.map(Config.option(config), Option.getOrUndefined)

const environment = (): Config.Config<Options> =>
  Config.all({
    connections: optional(Config.integer("NUTRITION_ADVISOR_CONNECTIONS")),
    keepAliveTimeout: optional(Config.duration("NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT")),
    connectTimeout: optional(Config.duration("NUTRITION_ADVISOR_CONNECT_TIMEOUT"))
  })

/**
 * The client with its settings from Config. With no argument it reads, where they are set, NUTRITION_ADVISOR_CONNECTIONS,
 * NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT and NUTRITION_ADVISOR_CONNECT_TIMEOUT, durations as in "4 seconds". Building it ends in
 * ConfigError where a setting can't be read, and in ConfigurationError where it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options> = environment()
): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError | ConfigurationError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
