import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Scheduler from "effect/Scheduler"
import * as NutritionAdvisor from "../../NutritionAdvisor.js"
import { ConfigurationError, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import * as RequestRetry from "../../RequestRetry.js"
import * as SearchCache from "../../SearchCache.js"
import type { SharedTokenCache } from "../../SharedTokenCache.js"
import * as Throttle from "../../Throttle.js"
import { check } from "../check.js"
import type { Services } from "./calls.js"
import { asConfigurationError } from "./configError.js"
import * as Logger from "./logger.js"
import * as Settings from "./settings.js"
import { fetchLayer } from "./web.js"

type Part<A> = Layer.Layer<A, ConfigurationError | ConfigError.ConfigError>

export interface Options extends Settings.Given {
  /** What sends the requests, created at the first call: fetch by default, UndiciClient for heavy traffic. */
  readonly httpClient?: Part<HttpClient.HttpClient> | undefined
  /** Retries searches, and GET and HEAD requests, that fail: the options of RequestRetry, or `true` for its defaults. Off by default. */
  readonly retry?: boolean | RequestRetry.Options | undefined
  /** Waits after a 429, and keeps a rate: the options of Throttle, or `true` for its defaults. Off by default. */
  readonly throttle?: boolean | Throttle.Options | undefined
  /** Keeps the payloads of searches: the options of SearchCache, or `true` for a `timeToLive` of one minute. Off by default. */
  readonly cache?: boolean | SearchCache.Options | undefined
  readonly logger?: Logger.Logger | undefined
  /** Where replicas share a token, such as RedisTokenCache.layer. By default the client has a token of its own. */
  readonly sharedTokenCache?: Part<SharedTokenCache> | undefined
}

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, ConfigurationError, NutritionAdvisor.NutritionAdvisor>

type Named = readonly [option: string, layer: Around]

/**
 * From the inside out. Throttle is next to the service, so that each retry counts against the rate and waits after a 429. SearchCache is
 * outermost, so that a hit waits for nothing, and equal searches share one request and its retries.
 */
const layersAround = ({ cache, retry, throttle }: Pick<Options, "cache" | "retry" | "throttle">) => {
  const layers: Array<Named> = []
  if (throttle) layers.push(["throttle", Throttle.layer(throttle === true ? {} : throttle)])
  if (retry) layers.push(["retry", RequestRetry.layer(retry === true ? {} : retry)])
  if (cache) layers.push(["cache", SearchCache.layer(cache === true ? { timeToLive: "1 minute" } : cache)])
  return layers
}

/** Takes the place of a client while settings of the layers around it are checked. */
const idleAdvisor = Layer.succeed(NutritionAdvisor.NutritionAdvisor, {
  search: () => Effect.never,
  searchAs: () => () => Effect.never,
  httpClient: HttpClient.makeWith<NutritionAdvisorError, never, NutritionAdvisorError, never>(
    () => Effect.never,
    Effect.succeed
  )
})

/**
 * Fails with what is wrong with a layer, as far as that can be known at once: builds it up to its first asynchronous step, and closes
 * it again.
 */
const checkLayer = <A, E>(layer: Layer.Layer<A, E>): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const scheduler = new Scheduler.SyncScheduler()
    const fiber = Effect.runFork(Effect.scoped(Effect.asVoid(Layer.build(layer))), { scheduler })
    let exit: Exit.Exit<void, E> | undefined
    fiber.addObserver((ended) => {
      exit = ended
    })
    scheduler.flush()
    if (exit === undefined) fiber.unsafeInterruptAsFork(FiberId.none)
    return exit ?? Effect.void
  })

/** Fails with the setting of a layer around the client that is wrong, such as "retry.times". */
const checkAround = ([option, layer]: Named) =>
  Effect.mapError(
    checkLayer(Layer.provide(layer, idleAdvisor)),
    (error) => new ConfigurationError({ ...error, field: `${option}.${error.field}` })
  )

const checkLogger = (logger: Options["logger"]) =>
  check(
    "logger",
    [
      logger === undefined ||
      Logger.levels.every((level) => Predicate.isFunction(Predicate.isNotNullable(logger) && logger[level])),
      `must have the methods ${Logger.levels.join(", ")}`
    ]
  )

/** The client without the layers around it. */
const clientOf = (given: Settings.Given, sharedTokenCache: Options["sharedTokenCache"]) =>
  sharedTokenCache === undefined
    ? Effect.map(Settings.readSettings(given), NutritionAdvisor.fromSettings)
    : Effect.map(
      Effect.zipLeft(Settings.readSharedSettings(given), checkLayer(sharedTokenCache)),
      (settings) =>
        Effect.flatMap(
          Layer.build(sharedTokenCache),
          (cache) => Effect.provide(NutritionAdvisor.fromSharedSettings(settings), cache)
        )
    )

/** Fetch has nothing to close, so the scope of its layer, which keeps 4 kB alive, is not that of the client. */
const fetching = Effect.scoped(Layer.build(fetchLayer))

/** Builds the whole client without a stack of layers: each keeps some kB alive, and a backend may have thousands of clients. */
const composed = ({ cache, httpClient, logger, retry, sharedTokenCache, throttle, ...given }: Options) =>
  Effect.gen(function*() {
    const client = yield* clientOf(given, sharedTokenCache)
    const around = layersAround({ cache, retry, throttle })
    yield* Effect.forEach(around, checkAround)
    yield* checkLogger(logger)
    const whole = Effect.gen(function*() {
      const sending = yield* httpClient === undefined ? fetching : Layer.build(httpClient)
      let built = yield* Effect.provide(client, sending)
      for (const [, layer] of around) {
        built = Context.merge(built, yield* Effect.provide(Layer.build(layer), built))
      }
      return built
    })
    return Logger.building(logger, whole)
  })

/** With the variables as they are now. */
const runNow = <A, E>(effect: Effect.Effect<A, E>): Either.Either<A, E> => Effect.runSync(Effect.either(effect))

/** Builds the client that the options describe. Throws what is wrong with them, with a stack that names the caller. */
export const servicesOf = (options: Options): Services =>
  Either.getOrThrowWith(runNow(composed(options)), (thrown) => {
    const error = asConfigurationError(thrown)
    if (error instanceof Error) Error.captureStackTrace(error, servicesOf)
    return error
  })
