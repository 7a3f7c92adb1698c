/** Replicas of a service that share a token, over the simulator in memory. */
import { Effect, Layer, Logger, LogLevel } from "effect"
import { NutritionAdvisor, type SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arrangedLive } from "../../support/doubles/arranged.js"
import { type LogLine, recordingTo } from "../../support/doubles/logs.js"

/** A replica, and the warnings that it logs. */
export const replica = (
  cache: Layer.Layer<SharedTokenCache.SharedTokenCache, unknown>,
  options: Partial<NutritionAdvisor.SharedOptions> = {}
) =>
  Effect.gen(function*() {
    const warnings: Array<LogLine> = []
    const logged = Effect.provide(Layer.merge(recordingTo(warnings), Logger.minimumLogLevel(LogLevel.Warning)))
    const advisor = NutritionAdvisor.layerShared({
      baseUrl: Simulator.baseUrl,
      licenseKey: Simulator.licenseKey,
      refresh: { coolDown: 1, background: false },
      ...options
    })
    const services = yield* logged(Layer.build(Layer.provide(advisor, cache)))
    return { search: logged(Effect.provide(NutritionAdvisor.search("oats"), services)), warnings }
  })

export type Replica = Effect.Effect.Success<ReturnType<typeof replica>>

export const searchAll = (replicas: ReadonlyArray<Replica>) =>
  Effect.forEach(replicas, ({ search }) => search, { concurrency: "unbounded", discard: true })

export const exchanges = Effect.flatMap(
  Simulator.Simulator,
  ({ counters }) => Effect.map(counters, ({ exchanges }) => exchanges)
)

/** The number of exchanges while an effect runs. */
export const exchangesDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* exchanges
    yield* effect
    return (yield* exchanges) - before
  })

export const revocationCost = (replicas: ReadonlyArray<Replica>) =>
  exchangesDuring(Effect.flatMap(Simulator.Simulator, ({ revoke }) => Effect.zipRight(revoke, searchAll(replicas))))

/** Tests that have a simulator in memory each, in real time. */
export const withSimulator = arrangedLive(Simulator.Simulator, Simulator.layerHttpClient())
