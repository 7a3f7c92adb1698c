import { NodeHttpClient } from "@effect/platform-node"
import { Agent } from "@effect/platform-node/Undici"
import { describe, expect } from "@effect/vitest"
import { Array as Arr, Context, Effect, identity, Layer, Record, Schedule } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../support/doubles/arranged.js"
import { endOf } from "../support/doubles/endOf.js"
import * as SpawnedSimulator from "./storms/SpawnedSimulator.js"

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

type Client = typeof clients[number]

/** In a storm a request waits in the queue of the connections for longer than the defaults allow: that is no failure here. */
const clientOf = (client: Client, baseUrl: string, options: Partial<NutritionAdvisor.Options> = {}) =>
  NutritionAdvisor.layer({
    baseUrl,
    licenseKey: Simulator.licenseKey,
    requestTimeout: "2 minutes",
    tokenTimeout: "2 minutes",
    ...options
  }).pipe(
    Layer.provide(client.layer),
    Layer.build,
    Effect.map((context) => ({
      search: Context.get(context, NutritionAdvisor.NutritionAdvisor).search,
      status: Context.get(context, TokenProvider.TokenProvider).status
    }))
  )

const terms = ["greek yogurt", "oats", "banana", "low sugar breakfast"]

type Search = NutritionAdvisor.Service["search"]

const ending = (search: Search, index: number) =>
  Effect.map(Effect.exit(search(terms[index % terms.length] ?? "")), endOf)

/** How the searches ended, and how often each way. */
const endings = (all: Iterable<Effect.Effect<string>>) =>
  Effect.map(
    Effect.all(all, { concurrency: "unbounded" }),
    (ended) => Record.map(Arr.groupBy(ended, identity), (same) => same.length)
  )

const atOnce = (count: number, search: Search) => endings(Arr.makeBy(count, (index) => ending(search, index)))

describe.each(clients)("storm: $count concurrent searches over $name", (client) => {
  const { count } = client

  testLive("without a token, all searches succeed with one exchange", function*() {
    const { baseUrl, sight } = yield* SpawnedSimulator.make
    const { search } = yield* clientOf(client, baseUrl)
    const ended = yield* atOnce(count, search)
    const seen = yield* sight
    expect(ended).toEqual({ Success: count })
    expect(seen).toMatchObject({ exchanges: 1, searches: count, rejections: 0 })
    expect(seen.connections).toBeLessThanOrEqual(connections)
  })

  testLive.each([["just before them", 0], ["after half of them", count / 2]] as const)(
    "if the token is revoked %s, all searches succeed with one more exchange",
    function*([_, revokedAfter]) {
      const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
      const { search } = yield* clientOf(client, baseUrl)
      yield* search("oats")
      const before = yield* sight
      let answered = 0
      const revokedOnce = Effect.suspend(() => answered === revokedAfter ? tell({ name: "revoke" }) : Effect.void)
      const counted: Search = (term) =>
        Effect.tap(search(term), () => {
          answered += 1
          return revokedOnce
        })
      yield* revokedOnce
      const ended = yield* atOnce(count, counted)
      const seen = yield* sight
      expect(ended).toEqual({ Success: count })
      expect(seen).toMatchObject({ exchanges: before.exchanges + 1, exchangesAtOnce: 1 })
      expect(seen.rejections).toBeGreaterThan(0)
      expect(seen.rejections).toBeLessThanOrEqual(count - revokedAfter)
    }
  )
})

describe.each(clients)("storm over $name: a token route that hangs", (client) => {
  testLive("1,000 searches time out after one exchange, and the next search after the backoff succeeds", function*() {
    const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
    const { search } = yield* clientOf(client, baseUrl, { tokenTimeout: "2 seconds" })
    yield* tell({ name: "respondAlways", operation: "token", answer: "hang" })
    const ended = yield* atOnce(1_000, search)
    const closed = yield* Effect.repeat(sight, {
      until: ({ openExchanges }) => openExchanges === 0,
      schedule: Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(1_000))
    }).pipe(Effect.zipRight(sight))
    yield* tell({ name: "respondAlways", operation: "token", answer: undefined })
    yield* Effect.sleep("1100 millis")
    const after = yield* ending(search, 0)
    const { exchanges } = yield* sight
    expect(ended).toEqual({ "TransportError Timeout": 1_000 })
    expect(closed).toMatchObject({ exchanges: 1, openExchanges: 0, abandonedExchanges: 1, searches: 0 })
    expect({ after, exchanges }).toEqual({ after: "Success", exchanges: 2 })
  })
})
