import { describe, expect, it } from "@effect/vitest"
import type { Duration } from "effect"
import { Effect, Fiber, Metric, MetricLabel, MetricState, Schema, TestClock } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { advisor, request } from "./simulated.js"

type Labels = Readonly<Record<string, string>>

const stateOf = (name: string, labels: Labels = {}) =>
  Effect.map(Metric.snapshot, (pairs) =>
    pairs.find(({ metricKey }) =>
      metricKey.name === `nutrition_advisor_${name}` &&
      Object.entries(labels).every(([key, value]) =>
        metricKey.tags.some((tag) => MetricLabel.isMetricLabel(tag) && tag.key === key && tag.value === value)
      )
    )?.metricState)

const countOf = (name: string, labels: Labels) =>
  Effect.map(
    stateOf(name, labels),
    (state) => state !== undefined && MetricState.isCounterState(state) ? state.count : 0
  )

/** What a program adds to a counter. */
const added = <A, E, R>(name: string, labels: Labels, program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* countOf(name, labels)
    yield* program
    return Number(yield* countOf(name, labels)) - Number(before)
  })

const slow = (operation: Simulator.Operation, latency: Duration.DurationInput) =>
  Effect.flatMap(Simulator.Simulator, ({ setLatency }) => setLatency(operation, latency))

const undecodable = Schema.Unknown.pipe(Schema.filter(() => {
  throw new Error("a schema of the user's that throws")
}))

const interrupted = Effect.gen(function*() {
  yield* slow("search", "1 minute")
  const search = yield* Effect.fork(NutritionAdvisor.search("rice"))
  yield* TestClock.adjust("1 second")
  yield* Fiber.interrupt(search)
})

const failed = Effect.flatMap(
  Simulator.Simulator,
  ({ respondNext }) =>
    Effect.zipRight(respondNext("search", { status: 429 }), Effect.exit(NutritionAdvisor.search("rice")))
)

describe("a data request", () => {
  it.effect.each<
    [
      outcome: string,
      operation: "search" | "request",
      program: Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>
    ]
  >([
    ["Success", "search", NutritionAdvisor.search("rice")],
    ["Defect", "search", Effect.exit(NutritionAdvisor.searchAs(undecodable)("rice"))],
    ["Interrupted", "search", interrupted],
    ["TooManyRequests", "search", failed],
    ["BadRequest", "search", Effect.exit(NutritionAdvisor.search(" "))],
    ["UnexpectedResponse", "request", request]
  ])("is counted once, as %s of a %s", ([outcome, operation, program]) =>
    Effect.gen(function*() {
      const all = added("requests_total", { operation, outcome }, program)
      expect(yield* all).toBe(1)
    }).pipe(Effect.provide(advisor)))

  it.effect("is timed in seconds", () =>
    Effect.gen(function*() {
      const timed = Effect.map(stateOf("request_duration_seconds"), (state) =>
        state !== undefined && MetricState.isHistogramState(state)
          ? { count: state.count, sum: state.sum }
          : { count: 0, sum: 0 })
      yield* slow("search", "2 seconds")
      const before = yield* timed
      const search = yield* Effect.fork(NutritionAdvisor.search("rice"))
      yield* TestClock.adjust("2 seconds")
      yield* search
      const after = yield* timed
      expect({ count: after.count - before.count, sum: after.sum - before.sum }).toEqual({ count: 1, sum: 2 })
    }).pipe(Effect.provide(advisor)))
})

describe("a token", () => {
  it.effect("has its life in seconds told when it is received", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(4_000.5))
      yield* NutritionAdvisor.search("rice")
      expect(yield* stateOf("token_expires_in_seconds")).toMatchObject({ value: 4_000.5 })
    }).pipe(Effect.provide(advisor)))

  it.effect("is counted as served by its state, for each search once", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(1_000))
      const twice = Effect.zipRight(NutritionAdvisor.search("rice"), NutritionAdvisor.search("rice"))
      expect(yield* added("tokens_served_total", { state: "fresh" }, twice)).toBe(2)
      yield* TestClock.adjust("950 seconds")
      expect(yield* added("tokens_served_total", { state: "stale" }, NutritionAdvisor.search("rice"))).toBe(1)
    }).pipe(Effect.provide(advisor)))
})
