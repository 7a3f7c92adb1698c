import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Scheduler from "effect/Scheduler"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"
import type { ConfigurationError } from "../../NutritionAdvisorError.js"
import type { ClientOptions } from "../../promise/Client.js"
import * as RequestRetry from "../../RequestRetry.js"
import * as SearchCache from "../../SearchCache.js"
import * as Throttle from "../../Throttle.js"
import { check, type Checked } from "../options/check.js"
import { type Declarations, parse } from "../options/declarations.js"
import { fromSettings, fromSharedSettings } from "../request/assembly.js"
import { hasMethod } from "../runtime/hasMethod.js"
import { asConfigurationError } from "./configError.js"
import type { BuildServices } from "./forkCalls.js"
import * as Logger from "./logger.js"
import { type AdvisorOptions, checkNames, readSettings, readSharedSettings } from "./settings.js"

type Wrapper = Layer.Layer<NutritionAdvisor, ConfigurationError, NutritionAdvisor>

/** Returns the layer if its option is on. An error names the option and its field, such as "retry.times". */
const wrapperIfOn = <O extends object>(
  option: string,
  { declarations, layer }: { readonly declarations: Declarations<O>; readonly layer: (options: O) => Wrapper },
  given: boolean | O | undefined,
  defaults: O
): Checked<Wrapper | undefined> => {
  if (!given) return Either.right(undefined)
  const options = given === true ? defaults : given
  // People who know other clients may pass a number of retries.
  return check(option, [typeof options === "object", "must be true, false or an object with options"]).pipe(
    Either.andThen(() => parse(declarations, options, { prefix: `${option}.` })),
    Either.map(() => layer(options))
  )
}

/**
 * The layers around the client, from the inside out. Throttle is next to the service, so that each retry counts against the rate and waits
 * after a 429. SearchCache is outermost, so that a hit doesn't wait, and equal searches share one request and its retries.
 */
const wrappersOf = ({ cache, retry, throttle }: ClientOptions) =>
  Either.all([
    wrapperIfOn("throttle", Throttle, throttle, {}),
    wrapperIfOn("retry", RequestRetry, retry, {}),
    wrapperIfOn("cache", SearchCache, cache, { timeToLive: "1 minute" })
  ])

/**
 * Builds a layer up to its first asynchronous step, and closes it again. This is how `createClient` can throw the error of an invalid option.
 */
const checkLayer = <A, E>(layer: Layer.Layer<A, E>): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const scheduler = new Scheduler.SyncScheduler()
    const fiber = Effect.runFork(Effect.scoped(Effect.asVoid(Layer.build(layer))), { scheduler })
    scheduler.flush()
    const exit = fiber.unsafePoll()
    if (exit === null) fiber.unsafeInterruptAsFork(FiberId.none)
    return exit ?? Effect.void
  })

const checkIsLayer = (option: string, given: unknown) =>
  check(option, [given === undefined || Layer.isLayer(given), "must be a layer, such as the result of layer()"])

const checkLogger = (logger: ClientOptions["logger"]) =>
  check(
    "logger",
    [
      logger === undefined || Logger.levels.every((level) => hasMethod(logger, level)),
      `must have the methods ${Logger.levels.join(", ")}`
    ]
  )

const readClientBuild = (given: AdvisorOptions, sharedTokenCache: ClientOptions["sharedTokenCache"]) =>
  sharedTokenCache === undefined
    ? Effect.map(readSettings(given), fromSettings)
    : Effect.map(
      Effect.zipLeft(readSharedSettings(given), checkLayer(sharedTokenCache)),
      (settings) =>
        Effect.flatMap(
          Layer.build(sharedTokenCache),
          (cache) => Effect.provide(fromSharedSettings(settings), cache)
        )
    )

/**
 * Sends through the fetch of the process. It has no state, so all clients share it. Building one for each client would add 15% to the CPU
 * time of creating a client.
 */
const fetchClient = Effect.runSync(Effect.scoped(Layer.build(FetchHttpClient.layer)))

/**
 * Checks the options, and returns the effect that builds the client. It builds no stack of layers, because each layer keeps some kB alive,
 * and a backend may have thousands of clients.
 */
const checkedBuild = (options: ClientOptions) =>
  Effect.gen(function*() {
    yield* check("options", [Predicate.isRecord(options), "must be an object, such as { licenseKey, baseUrl }"])
    const { cache, httpClient, logger, retry, sharedTokenCache, throttle, ...advisorOptions } = options
    yield* checkNames(advisorOptions, sharedTokenCache !== undefined)
    yield* checkIsLayer("httpClient", httpClient)
    yield* checkIsLayer("sharedTokenCache", sharedTokenCache)
    // This doesn't use advisorOptions, because a rest pattern leaves out options that are getters of a class.
    const buildClient = yield* readClientBuild(options, sharedTokenCache)
    const wrappers = yield* wrappersOf({ cache, retry, throttle })
    yield* checkLogger(logger)
    const build = Effect.gen(function*() {
      const httpClientContext = httpClient === undefined ? fetchClient : yield* Layer.build(httpClient)
      let built = yield* Effect.provide(buildClient, httpClientContext)
      for (const wrapper of wrappers) {
        if (wrapper) built = Context.merge(built, yield* Effect.provide(Layer.build(wrapper), built))
      }
      return built
    })
    return Logger.withLogger(logger, build)
  })

/** Runs an effect that reads environment variables, with their current values. */
const runNow = <A, E>(effect: Effect.Effect<A, E>): Either.Either<A, E> => Effect.runSync(Effect.either(effect))

/** Returns the effect that builds the client. Throws a ConfigurationError for invalid options, with a stack that points to the caller. */
export const servicesFrom = (options: ClientOptions): BuildServices =>
  Either.getOrThrowWith(runNow(checkedBuild(options)), (thrown) => {
    const error = asConfigurationError(thrown)
    if (error instanceof Error) Error.captureStackTrace(error, servicesFrom)
    return error
  })
