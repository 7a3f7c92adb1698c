import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { describe, expect } from "@effect/vitest"
import { Array as Arr, Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { endOf } from "../support/doubles/endOf.js"
import { simulated } from "./SimulatorOnPort.js"

const connections = 64

/** At most so many connections are open: further requests wait in the queue. */
const bounded = Layer.scoped(
  NodeHttpClient.Dispatcher,
  Effect.acquireRelease(
    Effect.sync(() => new Agent({ connections })),
    (agent) => Effect.promise(() => agent.destroy())
  )
)

/** The stock client takes as long for fewer. */
const clients = [
  { name: "undici", count: 1_000, layer: Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, bounded) },
  { name: "UndiciClient", count: 4_000, layer: Layer.orDie(UndiciClient.layer({ connections })) }
]

describe.each(clients)("storm: $count concurrent searches over $name", ({ count, layer }) => {
  /** In a storm a request waits in the queue of the connections for longer than the defaults allow: that is no failure here. */
  const advisorAt = (baseUrl: string) =>
    Effect.flatMap(Layer.build(layer), (client) =>
      NutritionAdvisor.make({
        baseUrl,
        licenseKey: Simulator.licenseKey,
        requestTimeout: "2 minutes",
        tokenTimeout: "2 minutes"
      }).pipe(Effect.provide(client)))

  /** How the searches ended, without repetitions. */
  const endings = (search: Effect.Effect<unknown, unknown>) =>
    Effect.map(
      Effect.replicateEffect(Effect.map(Effect.exit(search), endOf), count, { concurrency: "unbounded" }),
      Arr.dedupe
    )

  simulated("without a token, all searches succeed with one exchange", function*({ baseUrl, simulator }) {
    const { search } = yield* advisorAt(baseUrl)
    expect(yield* endings(search("oats"))).toEqual(["Success"])
    expect(yield* simulator.counters).toMatchObject({ exchanges: 1, searches: count, rejections: 0 })
  })

  simulated(
    "if the token is revoked just before them, all searches succeed with one more exchange",
    function*({ baseUrl, simulator }) {
      const { search } = yield* advisorAt(baseUrl)
      yield* search("oats")
      yield* simulator.revoke
      expect(yield* endings(search("oats"))).toEqual(["Success"])
      const { exchanges, rejections } = yield* simulator.counters
      expect(exchanges).toBe(2)
      expect(rejections).toBeGreaterThan(0)
      expect(rejections).toBeLessThanOrEqual(count)
    }
  )
})
