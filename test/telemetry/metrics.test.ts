import { describe, expect } from "@effect/vitest"
import type { Duration } from "effect"
import { Effect, Fiber, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, SharedTokenCache, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../doubles/arranged.js"
import { snapshot } from "../doubles/metrics.js"
import * as Time from "../doubles/Time.js"
import { advisor, countOf, type Labels, request, searches, stateOf } from "./simulated.js"

const test = arranged(Simulator.Simulator, advisor)

/** What a program adds to a counter. */
const added = <A, E, R>(name: string, labels: Labels, program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* countOf(name, labels)
    yield* program
    return (yield* countOf(name, labels)) - before
  })

const tags = NutritionAdvisorError.errors.map(({ _tag }) => _tag)

const rejections = ["RejectedAgain", "TokenUnchanged", "CoolingDown", "BodyNotReplayable", "AcceptedAfterRenewal"]

/** Each counter and its series that stand at zero once a client is built: the values of its labels, in their order by name. */
const standing: Readonly<Record<string, ReadonlyArray<Labels>>> = {
  token_exchanges_total: ["missing", "refresh", "rejection"].flatMap((reason) => [
    ...["issued", "unchanged"].map((outcome) => ({ reason, outcome, error: "none" })),
    ...tags.map((error) => ({ reason, outcome: "failed", error }))
  ]),
  rejections_total: [...rejections, "RetryFailed", "RenewalFailed"].map((outcome) => ({ outcome })),
  requests_total: ["search", "request"].flatMap((operation) => [
    ...["Success", "Interrupted", ...tags].map((outcome) => ({ operation, outcome, at: "request" })),
    ...tags.map((outcome) => ({ operation, outcome, at: "exchange" }))
  ]),
  shared_tokens_total: ["HandedOver", "Exchanged", "ExchangedAlone"].map((outcome) => ({ outcome })),
  shared_cache_failures_total: ["Unavailable", "Timeout"].map((reason) => ({ reason }))
}

describe("a counter", () => {
  test.each(Object.entries(standing))(
    "stands at zero from the start with each of its labels: %s",
    function*([name, all]) {
      yield* Effect.scoped(
        NutritionAdvisor.layerShared({
          baseUrl: Simulator.baseUrl,
          licenseKey: Simulator.licenseKey
        }).pipe((layer) => Effect.provide(Effect.void, layer))
      ).pipe(Effect.provide(SharedTokenCache.layerMemory))
      const series = (yield* snapshot).filter((measured) => measured.name === `nutrition_advisor_${name}`)
      expect(series.map(({ labels }) => labels)).toEqual(expect.arrayContaining([...all]))
      expect(series.map(({ labels }) => Object.keys(labels).sort())).toEqual(
        series.map(() => Object.keys(all[0] ?? {}).sort())
      )
    }
  )
})

const slow = (operation: Simulator.Operation, latency: Duration.DurationInput) =>
  Effect.flatMap(Simulator.Simulator, ({ setLatency }) => setLatency(operation, latency))

const answering = (operation: Simulator.Operation, status: number) =>
  Effect.flatMap(Simulator.Simulator, ({ respondNext }) => respondNext(operation, { status }))

const interrupted = Effect.gen(function*() {
  yield* slow("search", "1 minute")
  const search = yield* Effect.fork(NutritionAdvisor.search("rice"))
  yield* Time.pass("1 second")
  yield* Fiber.interrupt(search)
})

const undecodable = Schema.Unknown.pipe(Schema.filter(() => {
  throw new Error("a schema of the user's that throws")
}))

describe("a data request", () => {
  test.each<[string, Labels, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>]>(
    [
      ["a success", { operation: "search", outcome: "Success", at: "request" }, searches(1)],
      [
        "a defect",
        { operation: "search", outcome: "Defect" },
        Effect.exit(NutritionAdvisor.searchAs(undecodable)("rice"))
      ],
      ["an interruption", { operation: "search", outcome: "Interrupted" }, interrupted],
      [
        "the error of its answer",
        { operation: "search", outcome: "TooManyRequests", at: "request" },
        Effect.zipRight(answering("search", 429), searches(1))
      ],
      [
        "the error of its exchange",
        { operation: "search", outcome: "Forbidden", at: "exchange" },
        Effect.zipRight(answering("token", 403), searches(1))
      ],
      ["what was not sent", { operation: "search", outcome: "BadRequest" }, Effect.exit(NutritionAdvisor.search(" "))],
      ["a request of httpClient", { operation: "request", outcome: "UnexpectedResponse" }, request]
    ]
  )("is counted once: %s", function*([, labels, program]) {
    expect(yield* added("requests_total", labels, program)).toBe(1)
  })

  test("is timed in seconds", function*() {
    const timed = Effect.map(
      stateOf("request_duration_seconds", { operation: "search", outcome: "Success" }),
      (measured) => ({ count: measured?.count ?? 0, sum: measured?.sum ?? 0 })
    )
    yield* slow("search", "2 seconds")
    const before = yield* timed
    yield* Time.settle("1 second")(NutritionAdvisor.search("rice"))
    const after = yield* timed
    expect({ count: after.count - before.count, sum: after.sum - before.sum })
      .toEqual({ count: 1, sum: expect.closeTo(2) })
  })
})

describe("an exchange", () => {
  test("is counted by its reason and its outcome, a rejected request by how it ended", function*({ revoke }) {
    const labels = { reason: "missing", outcome: "issued", error: "none" }
    expect(yield* added("token_exchanges_total", labels, searches(3))).toBe(1)
    yield* revoke
    const accepted = added("rejections_total", { outcome: "AcceptedAfterRenewal" }, searches(3))
    expect(yield* added("token_exchanges_total", { reason: "rejection", outcome: "issued" }, accepted)).toBe(1)
    yield* revoke
    expect(yield* added("rejections_total", { outcome: "AcceptedAfterRenewal" }, searches(3))).toBe(3)
  })

  test("that failed is counted by its error", function*() {
    yield* answering("token", 403)
    expect(yield* added("token_exchanges_total", { outcome: "failed", error: "Forbidden" }, searches(1))).toBe(1)
  })

  test("has the Unix time told at which its token expires", function*({ setTokenLifetime }) {
    yield* setTokenLifetime(4_000.5)
    yield* NutritionAdvisor.search("rice")
    const { expiresAt } = yield* Effect.flatMap(TokenProvider.TokenProvider, ({ status }) => status)
    expect(yield* stateOf("token_expiry_timestamp_seconds")).toMatchObject({
      value: Option.getOrThrow(expiresAt) / 1000
    })
  })
})
