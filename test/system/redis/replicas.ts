/** Replicas of a service that share a token, each with a cache and a clock of its own, over one Simulator. */
import type { HttpClient } from "@effect/platform"
import { Cause, Context, Duration, Effect, Layer, Logger, type Scope } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { changedClock } from "../../doubles/makeClock.js"

export interface Line {
  readonly level: string
  readonly message: string
}

export interface Replica {
  /** Dies where it takes ten times as long as one call of the cache may take. */
  readonly search: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError>
  /** The clock of the replica is so many milliseconds off from now on. */
  readonly setOffset: (millis: number) => Effect.Effect<void>
  /** What the replica logged. */
  readonly lines: Effect.Effect<ReadonlyArray<Line>>
  readonly warnings: Effect.Effect<number>
  /** Calls of the cache that failed, or were given up for lack of an answer. */
  readonly failedCalls: Effect.Effect<number>
}

export const cacheTimeout = 250

type CacheLayer = Layer.Layer<SharedTokenCache.SharedTokenCache, NutritionAdvisorError.ConfigurationError>

const counted = (count: () => void) => (cache: SharedTokenCache.Service): SharedTokenCache.Service => {
  const noted = <A, E>(effect: Effect.Effect<A, E>) => Effect.onError(effect, () => Effect.sync(count))
  return {
    read: (name) => noted(cache.read(name)),
    write: (name, entry, options) => noted(cache.write(name, entry, options)),
    remove: (name, entry) => noted(cache.remove(name, entry)),
    lease: (name, owner, duration) => noted(cache.lease(name, owner, duration)),
    release: (name, owner) => noted(cache.release(name, owner)),
    changes: cache.changes
  }
}

export const make = (
  cacheLayer: CacheLayer,
  options: Partial<NutritionAdvisor.SharedOptions> = {}
): Effect.Effect<
  Replica,
  NutritionAdvisorError.ConfigurationError,
  HttpClient.HttpClient | Scope.Scope
> =>
  Effect.gen(function*() {
    const real = yield* Effect.clock
    const lines: Array<Line> = []
    let offset = 0
    let failedCalls = 0
    const clock = changedClock(real, { wall: () => real.unsafeCurrentTimeMillis() + offset })
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => {
        lines.push({ level: logLevel.label, message: String(message) })
      })
    )
    const cache = Layer.map(
      cacheLayer,
      (context) =>
        Context.make(
          SharedTokenCache.SharedTokenCache,
          counted(() => {
            failedCalls += 1
          })(Context.get(context, SharedTokenCache.SharedTokenCache))
        )
    )
    const longest = Duration.times(Duration.decode(options.cacheTimeout ?? cacheTimeout), 10)
    const advisor = NutritionAdvisor.layerShared({
      baseUrl: Simulator.baseUrl,
      licenseKey: Simulator.licenseKey,
      cacheTimeout,
      ...options
    }).pipe(Layer.provide(cache))
    const own = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(Effect.provide(logger), Effect.withClock(clock))
    const services = yield* own(Layer.build(Layer.fresh(advisor)))

    return {
      search: own(Context.get(services, NutritionAdvisor.NutritionAdvisor).search("yogurt")).pipe(
        Effect.timeoutFailCause({ duration: longest, onTimeout: () => Cause.die(new Error("a search took too long")) })
      ),
      setOffset: (millis) =>
        Effect.sync(() => {
          offset = millis
        }),
      lines: Effect.sync(() => [...lines]),
      warnings: Effect.sync(() => lines.filter(({ level }) => level === "WARN").length),
      failedCalls: Effect.sync(() => failedCalls)
    }
  })

export const makeMany = (
  count: number,
  cacheLayer: () => CacheLayer,
  options?: Partial<NutritionAdvisor.SharedOptions>
) => Effect.all(Array.from({ length: count }, () => make(cacheLayer(), options)))

export const searchAll = (replicas: ReadonlyArray<Replica>, searches = 1) =>
  Effect.forEach(
    Array.from({ length: searches }, () => replicas).flat(),
    ({ search }) => search,
    { concurrency: "unbounded", discard: true }
  )

export const exchanges = Effect.flatMap(
  Simulator.Simulator,
  ({ counters }) => Effect.map(counters, (counters) => counters.exchanges)
)

/** Exchanges that the effect cost. */
export const cost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* exchanges
    yield* effect
    return (yield* exchanges) - before
  })

/** What one revocation costs all replicas together, when each of them searches at once. */
export const revocationCost = (replicas: ReadonlyArray<Replica>) =>
  cost(
    Effect.zipRight(Effect.flatMap(Simulator.Simulator, ({ revoke }) => revoke), searchAll(replicas))
  )
