/** Searches that SearchCache answers from memory, in a loop, as a process of its own. */
import { Effect, Layer, ManagedRuntime } from "effect"
import * as NutritionAdvisor from "effect-nutrition-advisor/NutritionAdvisor"
import * as SearchCache from "effect-nutrition-advisor/SearchCache"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { obey } from "./orders.js"
import { isPayload, payload, term } from "./payload.js"

export type Body = "JSON.parse alone" | "a hit of SearchCache" | "a hit of SearchCache, with a query parameter"

export interface CacheLoopOrders {
  /** Nanoseconds of CPU time of each search: who else has the core does not count. */
  readonly time: (body: Body) => Promise<number>
}

const turns = 20_000

const text = payload.toString()

const runtime = ManagedRuntime.make(
  SearchCache.layer({ timeToLive: "1 day" }).pipe(
    Layer.provide(NutritionAdvisorTest.layer({ search: () => Effect.sync((): unknown => JSON.parse(text)) }))
  )
)

const { search } = await runtime.runPromise(NutritionAdvisor.NutritionAdvisor)

const bodies: Readonly<Record<Body, (turn: number) => Effect.Effect<unknown, unknown>>> = {
  "JSON.parse alone": () => Effect.sync((): unknown => JSON.parse(text)),
  "a hit of SearchCache": (turn) => search(term(turn)),
  "a hit of SearchCache, with a query parameter": (turn) => search(term(turn), { urlParams: { page: "2" } })
}

obey<CacheLoopOrders>({
  time: (body) =>
    runtime.runPromise(Effect.gen(function*() {
      const before = process.cpuUsage()
      for (let turn = 0; turn < turns; turn++) {
        if (!isPayload(yield* bodies[body](turn))) return yield* Effect.dieMessage("a payload of another shape")
      }
      const { system, user } = process.cpuUsage(before)
      return (system + user) * 1000 / turns
    }))
})
