import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Schema, Struct, TestClock } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  SharedTokenCache,
  Throttle,
  TokenProvider
} from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../../support/doubles/arranged.js"
import * as ManualClock from "../../support/doubles/ManualClock.js"
import { counterChanges, snapshot } from "../../support/doubles/metrics.js"
import { advisor, after, getPlan, settings } from "../../support/doubles/simulatedAdvisor.js"
import { arrange, failures, forbiddenCalls } from "../../support/tables/forbiddenCalls.js"

type Labels = Readonly<Record<string, string>>

/** The total of all metrics with this name and these labels: after a test that loads the library twice, a histogram exists twice. */
const measured = (field: "sum" | "value", name: string, labels: Labels = {}) =>
  Effect.map(snapshot, (all) =>
    all.filter((one) =>
      one.name === `nutrition_advisor_${name}` &&
      Object.entries(labels).every(([key, value]) => one.labels[key] === value)
    ).reduce((total, { [field]: value = 0 }) => total + value, 0))

const test = arranged(Simulator.Simulator, advisor())

const tags = NutritionAdvisorError.errors.map(({ _tag }) => _tag)

/** The labels of each counter that are zero when a client is built. */
const initial: Readonly<Record<string, ReadonlyArray<Labels>>> = {
  token_exchanges_total: ["missing", "refresh", "rejection"].flatMap((reason) => [
    ...["issued", "unchanged"].map((outcome) => ({ reason, outcome, error: "none" })),
    ...[...tags, "Defect"].map((error) => ({ reason, outcome: "failed", error }))
  ]),
  rejections_total: [...Object.keys(forbiddenCalls), "AcceptedAfterRenewal", "RetryFailed", "RenewalFailed"]
    .map((outcome) => ({ outcome })),
  requests_total: ["search", "request"].flatMap((operation) => [
    ...["Success", "Interrupted", "Defect", ...tags].map((outcome) => ({ operation, outcome, at: "request" })),
    ...tags.map((outcome) => ({ operation, outcome, at: "exchange" }))
  ]),
  shared_tokens_total: ["HandedOver", "Exchanged", "ExchangedAlone"].map((outcome) => ({ outcome })),
  shared_cache_failures_total: ["Unavailable", "Timeout"].map((reason) => ({ reason })),
  retries_total: ["Retried", "OutOfBudget"].map((outcome) => ({ outcome })),
  held_requests_total: ["TooManyRequests", "Rate"].map((reason) => ({ reason })),
  search_cache_total: ["Hit", "Miss", "Joined"].map((outcome) => ({ outcome }))
}

const wrappers = Layer.mergeAll(RequestRetry.layer(), Throttle.layer(), SearchCache.layer({ timeToLive: 1 }))

test.each(Object.entries(initial))(
  "metrics: building a client creates each series of a counter: %s",
  function*([name, all]) {
    yield* Effect.scoped(
      Effect.provide(Effect.void, Layer.provide(wrappers, NutritionAdvisor.layerShared(settings)))
    ).pipe(Effect.provide(SharedTokenCache.layerMemory))
    const series = (yield* snapshot).filter(({ name: of }) => of === `nutrition_advisor_${name}`)
    expect(series.map(({ labels }) => labels)).toEqual(expect.arrayContaining([...all]))
    expect(series.map(({ labels }) => Object.keys(labels).sort())).toEqual(
      series.map(() => Object.keys(all[0] ?? {}).sort())
    )
  }
)

const interrupted = Effect.gen(function*() {
  const { setLatency } = yield* Simulator.Simulator
  yield* setLatency("search", "1 minute")
  const search = yield* Effect.fork(NutritionAdvisor.search("rice"))
  yield* TestClock.adjust("1 second")
  yield* Fiber.interrupt(search)
})

/** A search on a closed client that still has a token. */
const afterClosing = Effect.flatten(Effect.scoped(Effect.gen(function*() {
  const { search } = yield* NutritionAdvisor.make(settings)
  yield* search("rice")
  return search("rice")
})))

const rejectedKey = after(
  ({ respondNext }) => respondNext("token", { status: 403 }),
  Effect.flip(NutritionAdvisor.search("rice"))
)

const afterRejections = (count: number) =>
  after(
    ({ respondNext }) => respondNext("search", ...Array.from({ length: count }, () => ({ status: 403 }))),
    Effect.exit(NutritionAdvisor.search("rice"))
  )

const undecodable = Schema.Unknown.pipe(Schema.filter(() => {
  throw new Error("a bug of the schema")
}))

describe("metrics: data request", () => {
  test.each<
    readonly [string, string, Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor | Simulator.Simulator>]
  >([
    ["a success after a renewal", "Success request search", afterRejections(1)],
    ["a failure after a renewal", "Forbidden request search", afterRejections(2)],
    ["a defect", "Defect request search", Effect.exit(NutritionAdvisor.searchAs(undecodable)("rice"))],
    ["an interruption", "Interrupted request search", interrupted],
    ["the error of its exchange", "Forbidden exchange search", rejectedKey],
    ["a search that is not sent", "BadRequest request search", Effect.exit(NutritionAdvisor.search(" "))],
    ["a request of httpClient", "UnexpectedResponse request request", Effect.exit(getPlan)]
  ])("each data request is counted once: %s", function*([, series, program]) {
    expect(yield* counterChanges(program, "requests_total")).toEqual({ [series]: 1 })
  })

  test("the duration is measured in seconds on the monotonic clock", function*({ setLatency }) {
    const sum = measured("sum", "request_duration_seconds", { operation: "search", outcome: "Success" })
    yield* setLatency("search", "2 seconds")
    const clock = ManualClock.over(yield* Effect.clock)
    const before = yield* sum
    const search = yield* Effect.fork(Effect.withClock(NutritionAdvisor.search("rice"), clock))
    yield* TestClock.adjust("1 second")
    clock.wallOffset -= 3_600_000
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(search)
    expect((yield* sum) - before).toBeCloseTo(2)
  })

  test.each<
    readonly [
      string,
      string,
      Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor | HttpClient.HttpClient>
    ]
  >([
    ["its term is blank", "BadRequest", NutritionAdvisor.search(" ")],
    ["its client is closed", "TransportError", afterClosing]
  ])("no duration is recorded for a request that is not sent: %s", function*([, outcome, program]) {
    const count = measured("value", "request_duration_seconds", { outcome })
    const before = yield* count
    expect(yield* Effect.flip(program)).toHaveProperty("_tag", outcome)
    expect(yield* count).toBe(before)
  })
})

test.each(Object.entries(forbiddenCalls))(
  "metrics: a Forbidden is counted once with its reason, and no call or exchange is sent more often than necessary: %s",
  function*([reason, forbiddenCall], simulator) {
    yield* arrange(simulator, forbiddenCall)
    expect(yield* counterChanges(failures(forbiddenCall), "rejections_total")).toMatchObject({ [reason]: 1 })
    // A renewal in the background would exchange the key only now.
    yield* TestClock.adjust("1 second")
    const { exchanges } = yield* simulator.counters
    const sends = (yield* simulator.requests).filter(({ operation }) => operation !== "token").length
    expect({ exchanges, sends }).toEqual(Struct.pick(forbiddenCall, "exchanges", "sends"))
  }
)

test("metrics: the Unix time at which the token expires is reported", function*({ setTokenLifetime }) {
  yield* setTokenLifetime(4_000.5)
  yield* NutritionAdvisor.search("rice")
  const { expiresAt } = yield* Effect.flatMap(TokenProvider.TokenProvider, ({ status }) => status)
  expect(yield* measured("value", "token_expiry_timestamp_seconds")).toBe(Option.getOrThrow(expiresAt) / 1000)
})
