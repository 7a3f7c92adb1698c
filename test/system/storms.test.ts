import { describe, expect } from "@effect/vitest"
import { Array as Arr, Context, Duration, Effect, identity, Layer, Record, Schedule } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { testLive } from "../doubles/arranged.js"
import * as BoundedClient from "./storms/boundedClient.js"
import * as SpawnedSimulator from "./storms/SpawnedSimulator.js"

const connections = 64

/** In a storm a request waits in the queue of the connections for longer than the defaults allow: that is no failure here. */
const clientOf = (client: BoundedClient.Client, baseUrl: string, options: Partial<NutritionAdvisor.Options> = {}) =>
  NutritionAdvisor.layer({
    baseUrl,
    licenseKey: Simulator.licenseKey,
    requestTimeout: "2 minutes",
    tokenTimeout: "2 minutes",
    ...options
  }).pipe(
    Layer.provide(client.layer(connections)),
    Layer.build,
    Effect.map((context) => ({
      search: Context.get(context, NutritionAdvisor.NutritionAdvisor).search,
      status: Context.get(context, TokenProvider.TokenProvider).status
    }))
  )

const nameOf = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  "reason" in error ? `${error._tag} ${error.reason}` : error._tag

const terms = ["greek yogurt", "oats", "banana", "low sugar breakfast"]

type Search = NutritionAdvisor.Service["search"]

const ending = (search: Search, index: number) =>
  Effect.match(search(terms[index % terms.length] ?? ""), { onFailure: nameOf, onSuccess: () => "answered" })

/** How the searches ended, and how often each way. */
const endings = (all: Iterable<Effect.Effect<string>>) =>
  Effect.map(
    Effect.all(all, { concurrency: "unbounded" }),
    (ended) => Record.map(Arr.groupBy(ended, identity), (same) => same.length)
  )

const atOnce = (count: number, search: Search) => endings(Arr.makeBy(count, (index) => ending(search, index)))

const manyAtOnce = 10_000

describe.each(BoundedClient.clients)("A storm of 10,000 searches at once over $name", (client) => {
  testLive("costs one exchange when it meets no token, and no search fails", function*() {
    const { baseUrl, sight } = yield* SpawnedSimulator.make
    const { search } = yield* clientOf(client, baseUrl)
    const ended = yield* atOnce(manyAtOnce, search)
    const seen = yield* sight
    expect(ended).toEqual({ answered: manyAtOnce })
    expect(seen).toMatchObject({ exchanges: 1, searches: manyAtOnce, rejections: 0 })
    expect(seen.connections).toBeLessThanOrEqual(connections)
  })

  testLive.each([["just before", 0], ["in the middle", manyAtOnce / 2]] as const)(
    "costs one more exchange when the token is revoked %s, and no search fails",
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
      const ended = yield* atOnce(manyAtOnce, counted)
      const seen = yield* sight
      expect(ended).toEqual({ answered: manyAtOnce })
      expect(seen).toMatchObject({ exchanges: before.exchanges + 1, exchangesAtOnce: 1 })
      expect(seen.rejections).toBeGreaterThan(0)
      expect(seen.rejections).toBeLessThanOrEqual(manyAtOnce - revokedAfter)
      expect(seen.rejections).toBeLessThanOrEqual(client.rejectionsAtMost(connections, manyAtOnce))
    }
  )
})

describe.each(BoundedClient.clients)("A token route that hangs over $name", (client) => {
  testLive("costs 1,000 searches one exchange, which the client closes, and is forgotten after a backoff", function*() {
    const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
    const { search } = yield* clientOf(client, baseUrl, { tokenTimeout: "2 seconds" })
    yield* tell({ name: "respondAlways", operation: "token", answer: "hang" })
    const [took, ended] = yield* Effect.timed(atOnce(1_000, search))
    const behindTheGate = yield* atOnce(100, search)
    const closed = yield* Effect.repeat(sight, {
      until: ({ openExchanges }) => openExchanges === 0,
      schedule: Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(1_000))
    }).pipe(Effect.zipRight(sight))
    yield* tell({ name: "respondAlways", operation: "token", answer: undefined })
    yield* Effect.sleep("1100 millis")
    const after = yield* ending(search, 0)
    const { exchanges } = yield* sight
    expect(ended).toEqual({ "TransportError Timeout": 1_000 })
    expect(behindTheGate).toEqual({ "TransportError Timeout": 100 })
    expect(Duration.toSeconds(took)).toBeGreaterThanOrEqual(1.9)
    expect(closed).toMatchObject({ exchanges: 1, openExchanges: 0, abandonedExchanges: 1, searches: 0 })
    expect({ after, exchanges }).toEqual({ after: "answered", exchanges: 2 })
  })
})
