import { expect } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import * as RedisServer from "./RedisServer.js"
import { exchanges, exchangesDuring, replica, revocationCost, searchAll, withSimulator } from "./replicas.js"

const count = 4

const surroundings = Effect.gen(function*() {
  const server = yield* RedisServer.make()
  const withOwnConnection = replica(RedisTokenCache.layer({ url: server.url }), { cacheTimeout: 250 })
  const replicas = yield* Effect.replicateEffect(withOwnConnection, count)
  return { server, replicas }
})

type Happens = (server: RedisServer.RedisServer) => Effect.Effect<unknown>

RedisServer.describeWithRedis("replicas on a Redis that", () => {
  withSimulator.each<readonly [string, begins: Happens, ends: Happens]>([
    ["is killed", ({ kill }) => kill, ({ start }) => start],
    ["is frozen", ({ freeze }) => freeze, ({ thaw }) => thaw]
  ])(
    "%s: each replica exchanges by itself and logs a warning until Redis recovers",
    function*([, begins, ends]) {
      const { replicas, server } = yield* surroundings
      expect(yield* exchangesDuring(searchAll(replicas))).toBe(1)
      yield* begins(server)
      expect(yield* revocationCost(replicas)).toBe(count)
      expect(replicas.map(({ warnings }) => warnings.length > 0)).toEqual(replicas.map(() => true))
      yield* ends(server)
      yield* Effect.repeat(revocationCost(replicas), {
        until: (exchanges) => exchanges === 1,
        schedule: Schedule.spaced("500 millis")
      }).pipe(Effect.timeout("30 seconds"))
    }
  )

  withSimulator.each<readonly [string, number, Happens]>([
    ["is killed during a shared exchange: each replica exchanges once", count, ({ kill }) => kill],
    ["is flushed during a shared exchange: one more exchange follows", 2, ({ command }) => command("FLUSHALL")]
  ])("%s", function*([, exchangesOfAll, happens], simulator) {
    const { replicas, server } = yield* surroundings
    yield* simulator.setLatency("token", "1 second")
    const searches = yield* Effect.fork(exchangesDuring(searchAll(replicas)))
    yield* Effect.repeat(exchanges, { until: (exchanges) => exchanges > 0, schedule: Schedule.spaced(10) })
    yield* Effect.sleep("100 millis")
    yield* happens(server)
    expect(yield* Fiber.join(searches)).toBe(exchangesOfAll)
  })
})
