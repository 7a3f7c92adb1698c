/** What Prometheus would have scraped, once a minute, from a client on a clock of the test's. */
import { Effect, Exit, Fiber, Layer, Logger, LogLevel, Random, Scope } from "effect"
import * as Metrics from "effect-nutrition-advisor/internal/metrics"
import * as CacheDouble from "../../doubles/CacheDouble.js"
import { type Measured, snapshot } from "../../doubles/metrics.js"
import { ShakenScheduler } from "../../model/ShakenScheduler.js"
import { VirtualTime } from "../../model/VirtualTime.js"
import type { Scenario } from "./scenarios.js"

export const minutes = 30

/** A value for each minute; none where the series was not there yet. */
export type Series = ReadonlyMap<string, ReadonlyArray<number | undefined>>

const nameOf = ({ labels, name }: Measured) => {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
  return `${name}{${["job=\"foods\"", "instance=\"a\"", ...pairs].join(",")}}`
}

const valueOf = ({ count, type, value }: Measured) => type === "counter" ? count : value

const look = Effect.map(snapshot, (all) =>
  new Map(all.flatMap((measured) => {
    const value = valueOf(measured)
    return value === undefined || !measured.name.startsWith("nutrition_advisor_")
      ? []
      : [[nameOf(measured), value] as const]
  })))

/** The series that stand at zero once all these layers are built, before anything is counted. */
export const standing = (scenarios: ReadonlyArray<Scenario>) =>
  Effect.runPromise(Effect.zipRight(
    Effect.forEach(scenarios, ({ client }) => Effect.scoped(Layer.build(Layer.fresh(client))), { discard: true }),
    Effect.map(look, (seen): ReadonlySet<string> => new Set(seen.keys()))
  ))

const grown = (before: number, value: number | undefined, isStanding: boolean) => {
  const growth = (value ?? 0) - before
  return growth === 0 && !isStanding ? undefined : growth
}

/** Half an hour of searches. Metrics belong to the process, so what others have counted is taken off. */
export const recorded = async ({ at, client, every, search }: Scenario, standing: ReadonlySet<string>) => {
  const scheduler = new ShakenScheduler(2_048)
  const time = new VirtualTime()
  time.jump(-time.wallMillis)
  const scope = Effect.runSync(Scope.make())
  const run = <A, E>(effect: Effect.Effect<A, E>) => {
    const fiber = Effect.runFork(
      effect.pipe(
        Effect.withRandom(Random.fixed([0.5])),
        Effect.withClock(time.clock),
        Logger.withMinimumLogLevel(LogLevel.None)
      ),
      { scheduler }
    )
    scheduler.settle()
    return fiber
  }
  const pass = async (millis: number) => {
    time.pass(millis, scheduler.settle)
    await Effect.runPromise(CacheDouble.quiet)
    scheduler.settle()
  }
  Effect.runSync(Metrics.tokenExpires(0))
  const before = Effect.runSync(look)
  const services = await Effect.runPromise(Fiber.join(run(Layer.buildWithScope(Layer.fresh(client), scope))))
  const samples = [Effect.runSync(look)]
  for (let second = 0, index = 0; second < minutes * 60; second += 1) {
    if (second % 60 === 0) run(Effect.provide(at[second / 60] ?? Effect.void, services))
    for (; index * every <= second; index += 1) run(Effect.provide(search(index), services))
    await pass(1_000)
    if (second % 60 === 59) samples.push(Effect.runSync(look))
  }
  run(Scope.close(scope, Exit.void))
  return new Map(
    [...new Set(samples.flatMap((sample) => [...sample.keys()]))].map((name) =>
      [name, samples.map((sample) => grown(before.get(name) ?? 0, sample.get(name), standing.has(name)))] as const
    )
  )
}
