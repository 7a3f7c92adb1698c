import { describe, expect } from "@effect/vitest"
import type { Duration } from "effect"
import { Effect, Fiber, Option, Schema } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../doubles/arranged.js"
import * as Time from "../doubles/Time.js"
import { advisor, countOf, type Labels, request, stateOf } from "./simulated.js"

const test = arranged(Effect.void, advisor)

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
  yield* Time.pass("1 second")
  yield* Fiber.interrupt(search)
})

const failed = Effect.flatMap(
  Simulator.Simulator,
  ({ respondNext }) =>
    Effect.zipRight(respondNext("search", { status: 429 }), Effect.exit(NutritionAdvisor.search("rice")))
)

describe("a data request", () => {
  test.each<
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
  ])("is counted once, as %s of a %s", function*([outcome, operation, program]) {
    const all = added("requests_total", { operation, outcome }, program)
    expect(yield* all).toBe(1)
  })

  test("is timed in seconds", function*() {
    const timed = Effect.map(
      stateOf("request_duration_seconds", { operation: "search", outcome: "Success" }),
      (measured) => ({ count: measured?.count ?? 0, sum: measured?.sum ?? 0 })
    )
    yield* slow("search", "2 seconds")
    yield* Time.pass("10 seconds")
    const before = yield* timed
    const search = yield* Effect.fork(NutritionAdvisor.search("rice"))
    yield* Time.pass("2 seconds")
    yield* Fiber.join(search)
    const after = yield* timed
    expect({ count: after.count - before.count, sum: after.sum - before.sum }).toEqual({
      count: 1,
      sum: expect.closeTo(2)
    })
  })
})

describe("a token", () => {
  test("has the Unix time of its expiry told when it is received", function*() {
    yield* Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(4_000.5))
    yield* NutritionAdvisor.search("rice")
    const { expiresAt } = yield* Effect.flatMap(TokenProvider.TokenProvider, ({ status }) => status)
    expect(yield* stateOf("token_expiry_timestamp_seconds")).toMatchObject({
      value: Option.getOrThrow(expiresAt) / 1000
    })
  })

  test("is counted as served by its state, for each search once", function*() {
    yield* Effect.flatMap(Simulator.Simulator, ({ setTokenLifetime }) => setTokenLifetime(1_000))
    const twice = Effect.zipRight(NutritionAdvisor.search("rice"), NutritionAdvisor.search("rice"))
    expect(yield* added("tokens_served_total", { state: "fresh" }, twice)).toBe(2)
    yield* Time.pass("950 seconds")
    expect(yield* added("tokens_served_total", { state: "stale" }, NutritionAdvisor.search("rice"))).toBe(1)
  })
})
