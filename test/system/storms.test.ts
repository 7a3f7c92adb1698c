import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Context, Duration, Effect, identity, Layer, Record, Schedule } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
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

/** How the searches ended, how often each, and in which time. */
const endings = (all: Iterable<Effect.Effect<string>>) =>
  Effect.map(
    Effect.timed(Effect.all(all, { concurrency: "unbounded" })),
    ([took, ended]) => ({
      ended: Record.map(Arr.groupBy(ended, identity), (same) => same.length),
      seconds: Duration.toSeconds(took)
    })
  )

const atOnce = (count: number, search: Search) => endings(Arr.makeBy(count, (index) => ending(search, index)))

/** An open load: each search starts at its own time, whatever became of those before it. */
const steadily = (perSecond: number, seconds: number, search: Search) =>
  endings(
    Arr.makeBy(
      perSecond * seconds,
      (index) => Effect.delay(ending(search, index), Duration.millis(index * 1000 / perSecond))
    )
  )

const failuresIn = ({ answered: _ = 0, ...failed }: Readonly<Record<string, number>>) =>
  Object.values(failed).reduce((sum, count) => sum + count, 0)

const print = (line: string) => Effect.sync(() => console.log(line))

const inSeconds = (seconds: number) => `${seconds.toFixed(1)} s`

const manyAtOnce = 10_000

describe.each(BoundedClient.clients)("A storm of 10,000 searches at once over $name", (client) => {
  it.scopedLive("costs one exchange when it meets no token, and no search fails", () =>
    Effect.gen(function*() {
      const { baseUrl, sight } = yield* SpawnedSimulator.make
      const { search } = yield* clientOf(client, baseUrl)
      const { ended, seconds } = yield* atOnce(manyAtOnce, search)
      const seen = yield* sight
      yield* print(
        `${client.name}: 10,000 cold searches: ${seen.exchanges} exchange, ${failuresIn(ended)} failures, ` +
          `${seen.connections} connections, ${inSeconds(seconds)}`
      )
      expect(ended).toEqual({ answered: manyAtOnce })
      expect(seen).toMatchObject({ exchanges: 1, searches: manyAtOnce, rejections: 0 })
      expect(seen.connections).toBeLessThanOrEqual(connections)
    }), 120_000)

  it.scopedLive(
    "costs one more exchange when the token was revoked just before, and no search fails",
    () =>
      Effect.gen(function*() {
        const { baseUrl, tell } = yield* SpawnedSimulator.make
        const { search } = yield* clientOf(client, baseUrl)
        yield* search("oats")
        const before = yield* tell({ name: "revoke" })
        const { ended, seconds } = yield* atOnce(manyAtOnce, search)
        const seen = yield* tell({ name: "look" })
        yield* print(
          `${client.name}: 10,000 searches with a token that was revoked before: ${
            seen.exchanges - before.exchanges
          } further exchange, ` +
            `${failuresIn(ended)} failures, ${seen.rejections} rejections, ${inSeconds(seconds)}`
        )
        expect(ended).toEqual({ answered: manyAtOnce })
        expect(seen).toMatchObject({ exchanges: before.exchanges + 1, exchangesAtOnce: 1 })
        expect(seen.rejections).toBeGreaterThan(0)
        expect(seen.rejections).toBeLessThanOrEqual(client.rejectionsAtMost(connections, manyAtOnce))
      }),
    120_000
  )

  it.scopedLive(
    "costs one more exchange when the token is revoked in the middle, and no search fails",
    () =>
      Effect.gen(function*() {
        const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
        const { search } = yield* clientOf(client, baseUrl)
        yield* search("oats")
        const before = yield* sight
        let answered = 0
        const counted: Search = (term) =>
          Effect.tap(search(term), () => {
            answered += 1
            return answered === manyAtOnce / 2 ? tell({ name: "revoke" }) : Effect.void
          })
        const { ended, seconds } = yield* atOnce(manyAtOnce, counted)
        const seen = yield* sight
        yield* print(
          `${client.name}: 10,000 searches with a token that is revoked in the middle: ${
            seen.exchanges - before.exchanges
          } further ` +
            `exchange, ${failuresIn(ended)} failures, ${seen.rejections} rejections, ${inSeconds(seconds)}`
        )
        expect(ended).toEqual({ answered: manyAtOnce })
        expect(seen).toMatchObject({ exchanges: before.exchanges + 1, exchangesAtOnce: 1 })
        expect(seen.rejections).toBeGreaterThan(0)
        expect(seen.rejections).toBeLessThan(manyAtOnce)
        expect(seen.rejections).toBeLessThanOrEqual(client.rejectionsAtMost(connections, manyAtOnce))
      }),
    120_000
  )
})

describe.each(BoundedClient.clients)("A token route that hangs over $name", (client) => {
  it.scopedLive(
    "costs 1,000 searches at once one exchange, which the client closes, and is forgotten after the backoff",
    () =>
      Effect.gen(function*() {
        const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
        const { search } = yield* clientOf(client, baseUrl, { tokenTimeout: "2 seconds" })
        yield* tell({ name: "respondAlways", operation: "token", answer: "hang" })
        const { ended, seconds } = yield* atOnce(1_000, search)
        const behindTheGate = yield* atOnce(100, search)
        const closed = yield* Effect.repeat(sight, {
          until: ({ openExchanges }) => openExchanges === 0,
          schedule: Schedule.intersect(Schedule.spaced("10 millis"), Schedule.recurs(1_000))
        }).pipe(Effect.zipRight(sight))
        yield* tell({ name: "respondAlways", operation: "token", answer: undefined })
        yield* Effect.sleep("1100 millis")
        const after = yield* ending(search, 0)
        const { exchanges } = yield* sight
        yield* print(
          `${client.name}: 1,000 cold searches and a token route that hangs: ${closed.exchanges} exchange, ${
            failuresIn(ended)
          } timeouts ` +
            `after ${inSeconds(seconds)}, ${closed.openExchanges} exchanges left open`
        )
        expect(ended).toEqual({ "TransportError Timeout": 1_000 })
        expect(behindTheGate.ended).toEqual({ "TransportError Timeout": 100 })
        expect(seconds).toBeGreaterThanOrEqual(1.9)
        expect(closed).toMatchObject({ exchanges: 1, openExchanges: 0, abandonedExchanges: 1, searches: 0 })
        expect({ after, exchanges }).toEqual({ after: "answered", exchanges: 2 })
      }),
    60_000
  )
})

const rate = 100

describe.concurrent.each(BoundedClient.clients)("A storm of a minute over $name", (client) => {
  it.scopedLive(
    `costs at most 12 exchanges when every search is refused with 403, at ${rate} searches a second`,
    () =>
      Effect.gen(function*() {
        const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
        const { search } = yield* clientOf(client, baseUrl)
        yield* search("oats")
        yield* tell({ name: "respondAlways", operation: "search", answer: { status: 403 } })
        const { ended, seconds } = yield* steadily(rate, 60, search)
        const { exchanges, searches } = yield* sight
        yield* print(
          `${client.name}: ${
            inSeconds(seconds)
          } of a permanent 403 at ${rate} searches a second: ${exchanges} exchanges, ` +
            `${searches} requests, ${JSON.stringify(ended)}`
        )
        expect(Object.keys(ended).filter((name) => !name.startsWith("Forbidden "))).toEqual([])
        expect(failuresIn(ended)).toBe(60 * rate)
        expect(exchanges).toBeLessThanOrEqual(12)
      }),
    600_000
  )

  it.scopedLive(
    "fails no search while the token route answers 500 and the stale token holds",
    () =>
      Effect.gen(function*() {
        const { baseUrl, sight, tell } = yield* SpawnedSimulator.make
        const { search, status } = yield* clientOf(client, baseUrl, {
          refresh: { windowFraction: 0.99 },
          tokenTimeout: "10 seconds"
        })
        yield* tell({ name: "setTokenLifetime", seconds: 200 })
        yield* search("oats")
        yield* tell({ name: "respondAlways", operation: "token", answer: { status: 500 } })
        yield* Effect.sleep("2100 millis")
        const before = yield* status
        const { ended, seconds } = yield* steadily(50, 60, search)
        const outage = yield* sight
        yield* tell({ name: "setTokenLifetime", seconds: 86_400 })
        yield* tell({ name: "respondAlways", operation: "token", answer: undefined })
        const [wait] = yield* Effect.timed(Effect.repeat(status, {
          until: ({ state }) => state === "fresh",
          schedule: Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(650))
        }))
        const after = yield* status
        const afterwards = yield* ending(search, 0)
        yield* print(
          `${client.name}: ${inSeconds(seconds)} of a token route that answers 500, at 50 searches a second: ${
            outage.exchanges - 1
          } ` +
            `further exchanges, ${failuresIn(ended)} failures; refreshed ${inSeconds(Duration.toSeconds(wait))} after`
        )
        expect(before.state).toBe("stale")
        expect(ended).toEqual({ answered: 3_000 })
        expect(outage).toMatchObject({ tokensIssued: 1, rejections: 0 })
        expect(outage.exchanges - 1).toBeGreaterThanOrEqual(6 * 3)
        expect(outage.exchanges - 1).toBeLessThanOrEqual(7 * 3)
        expect({ afterwards, state: after.state }).toEqual({ afterwards: "answered", state: "fresh" })
        expect((yield* sight).tokensIssued).toBe(2)
      }),
    200_000
  )
})
