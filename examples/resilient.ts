/**
 * SearchCache, RequestRetry and Throttle around the client: `npx tsx examples/resilient.ts` sends searches to the embedded simulator while
 * it fails in the usual ways, and prints what each of the three has saved.
 * Needs `npm install @effect/platform-node@^0.108`.
 */
import "./help.js"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Metric } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const Live = SearchCache.layer({ timeToLive: "10 minutes" }).pipe(
  Layer.provide(RequestRetry.layer({ times: 2 })),
  Layer.provide(Throttle.layer({ onTooManyRequests: "fail", rate: { limit: 50, interval: "1 second" } })),
  Layer.provide(NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })),
  Layer.provideMerge(Simulator.layerHttpClient())
)

/** How many of so many searches at once were answered. */
const answered = (terms: ReadonlyArray<string>) =>
  Effect.map(
    Effect.all(terms.map((term) => Effect.isSuccess(NutritionAdvisor.search(term))), { concurrency: "unbounded" }),
    (successes) => successes.filter((isSuccess) => isSuccess).length
  )

const different = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name} ${index}`)

const countOf = (name: string, label: string) =>
  Effect.map(
    Metric.snapshot,
    (metrics) =>
      metrics.flatMap((metric) =>
        metric.metricKey.name === `nutrition_advisor_${name}` &&
          metric.metricKey.tags.some(({ value }) => value === label) && "count" in metric.metricState
          ? [Number(metric.metricState.count)]
          : []
      ).reduce((sum, count) => sum + count, 0)
  )

const program = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator

  yield* answered(Array.from({ length: 100 }, () => "oats"))
  yield* answered(Array.from({ length: 100 }, () => "oats"))

  yield* simulator.respondNext("search", { status: 503 }, "drop", { status: 500 })
  const afterFaults = yield* answered(different(3, "bread"))

  yield* simulator.respondNext("search", { status: 429, headers: { "retry-after": "1" } })
  yield* answered(["rice"])
  const duringHold = yield* answered(different(100, "milk"))
  yield* Effect.sleep("1100 millis")
  const afterHold = yield* answered(["milk"])

  const { searches } = yield* simulator.counters
  const hits = yield* countOf("search_cache_total", "Hit")
  const joined = yield* countOf("search_cache_total", "Joined")
  const retried = yield* countOf("retries_total", "Retried")
  const held = yield* countOf("held_requests_total", "TooManyRequests")
  yield* Console.log([
    `SearchCache: 200 searches for oats, ${joined} joined the first one, ${hits} were answered from memory.`,
    `RequestRetry: 3 searches failed at the service and were sent again (${retried} repeats), ${afterFaults} of 3 were answered.`,
    `Throttle: after one 429, ${held} of 100 searches were not sent and ended at once (${duringHold} were answered).`,
    `A second later ${afterHold} of 1 was answered. In all 305 searches, of which the service saw ${searches}.`
  ].join("\n"))
})

NodeRuntime.runMain(Effect.provide(program, Live))
