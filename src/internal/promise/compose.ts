import type * as HttpClient from "@effect/platform/HttpClient"
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
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import * as RequestRetry from "../../RequestRetry.js"
import * as SearchCache from "../../SearchCache.js"
import type { SharedTokenCache } from "../../SharedTokenCache.js"
import * as Throttle from "../../Throttle.js"
import { check, type Checked } from "../check.js"
import { parse } from "../options.js"
import type { Services } from "./calls.js"
import { asConfigurationError } from "./configError.js"
import * as Logger from "./logger.js"
import * as Settings from "./settings.js"
import { fetchLayer } from "./web.js"

type Part<A> = Layer.Layer<A, ConfigurationError | ConfigError.ConfigError>

export interface Options extends Settings.Given {
  /** The layer of the HttpClient that sends the requests. It is built at the first call. `fetch` by default; use UndiciClient for heavy traffic. */
  readonly httpClient?: Part<HttpClient.HttpClient> | undefined
  /** Retries failed searches, and failed GET and HEAD requests. `true`, or the options of RequestRetry. Off by default. */
  readonly retry?: boolean | RequestRetry.Options | undefined
  /** Stops sending for a while after a 429, and can limit the request rate. `true`, or the options of Throttle. Off by default. */
  readonly throttle?: boolean | Throttle.Options | undefined
  /** Caches search payloads. `true` for a `timeToLive` of one minute, or the options of SearchCache. Off by default. */
  readonly cache?: boolean | SearchCache.Options | undefined
  readonly logger?: Logger.Logger | undefined
  /** The layer of the cache through which replicas share a token, such as RedisTokenCache.layer. By default, the client doesn't share its token. */
  readonly sharedTokenCache?: Part<SharedTokenCache> | undefined
}

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, ConfigurationError, NutritionAdvisor.NutritionAdvisor>

interface Wrapper {
  readonly option: string
  readonly checked: Checked<unknown>
  readonly layer: Around
}

/**
 * The layers around the client, from the inside out. Throttle is next to the service, so that each retry counts against the rate and waits
 * after a 429. SearchCache is outermost, so that a hit doesn't wait, and equal searches share one request and its retries.
 */
const wrappersOf = ({ cache, retry, throttle }: Pick<Options, "cache" | "retry" | "throttle">) => {
  const wrappers: Array<Wrapper> = []
  if (throttle) {
    const options: Throttle.Options = throttle === true ? {} : throttle
    const checked = parse(Throttle.declarations, options)
    wrappers.push({ option: "throttle", checked, layer: Throttle.layer(options) })
  }
  if (retry) {
    const options: RequestRetry.Options = retry === true ? {} : retry
    const checked = parse(RequestRetry.declarations, options)
    wrappers.push({ option: "retry", checked, layer: RequestRetry.layer(options) })
  }
  if (cache) {
    const options: SearchCache.Options = cache === true ? { timeToLive: "1 minute" } : cache
    const checked = parse(SearchCache.declarations, options)
    wrappers.push({ option: "cache", checked, layer: SearchCache.layer(options) })
  }
  return wrappers
}

/** Fails if a layer fails before its first asynchronous step. The layer is closed again. */
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

/** Fails with an error that names the option and its field, such as "retry.times". */
const checkWrapper = ({ checked, option }: Wrapper) =>
  Effect.mapError(
    Effect.suspend(() => checked),
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
    const wrappers = wrappersOf({ cache, retry, throttle })
    yield* Effect.forEach(wrappers, checkWrapper)
    yield* checkLogger(logger)
    const whole = Effect.gen(function*() {
      const sending = yield* httpClient === undefined ? fetching : Layer.build(httpClient)
      let built = yield* Effect.provide(client, sending)
      for (const { layer } of wrappers) {
        built = Context.merge(built, yield* Effect.provide(Layer.build(layer), built))
      }
      return built
    })
    return Logger.building(logger, whole)
  })

/** Runs an effect that reads environment variables, with their current values. */
const runNow = <A, E>(effect: Effect.Effect<A, E>): Either.Either<A, E> => Effect.runSync(Effect.either(effect))

/** Returns the effect that builds the client. Throws a ConfigurationError for invalid options, with a stack that points to the caller. */
export const servicesOf = (options: Options): Services =>
  Either.getOrThrowWith(runNow(composed(options)), (thrown) => {
    const error = asConfigurationError(thrown)
    if (error instanceof Error) Error.captureStackTrace(error, servicesOf)
    return error
  })
