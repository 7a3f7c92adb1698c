/** Replicas in their own processes, over a real Redis: what they cost is what the simulation in test/shared/fleet says. */
import { expect } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import * as ProcessFleet from "./fleet/ProcessFleet.js"
import * as RedisServer from "./redis/RedisServer.js"
import { withSimulatorOnPort } from "./SimulatorOnPort.js"

/** How often the cache was called. Redis counts the SET inside the script of each publication as well. */
const cacheCalls = ({ command }: RedisServer.RedisServer, publications: number) =>
  Effect.map(command("INFO", "commandstats"), (text) => {
    const callsOf = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(String(text))?.[1] ?? 0)
    return callsOf("getrange") + callsOf("set") + callsOf("eval") - publications
  })

RedisServer.describeWithRedis("fleet of processes", () => {
  withSimulatorOnPort.each([[12, "ioredis"], [4, "ioredis-6"]] as const)(
    "with %d processes over %s, a cold start and a revocation cost one exchange, and a restart costs none",
    function*([size, ioredis], { baseUrl, simulator }) {
      const redis = yield* RedisServer.make()
      const started = ProcessFleet.start(size, ioredis, { baseUrl, redisUrl: Redacted.value(redis.url), clients: 1 })
      const exchangesAfter = (fleet: Effect.Effect.Success<typeof started>) =>
        Effect.gen(function*() {
          expect(yield* fleet.search(10)).toEqual([])
          return (yield* simulator.counters).exchanges
        })

      const fleet = yield* started
      expect(yield* exchangesAfter(fleet)).toBe(1)
      yield* simulator.revoke
      expect(yield* exchangesAfter(fleet)).toBe(2)
      expect(new Set(yield* fleet.end)).toEqual(new Set([0]))
      expect(yield* exchangesAfter(yield* started)).toBe(2)
    }
  )

  withSimulatorOnPort(
    "an exchange costs each of 200 clients six cache calls, plus two per additional second",
    function*({ baseUrl, simulator }) {
      const redis = yield* RedisServer.make()
      const fleet = yield* ProcessFleet.start(4, "ioredis", {
        baseUrl,
        redisUrl: Redacted.value(redis.url),
        clients: 50
      })
      yield* simulator.setLatency("token", "1 second")

      const searchAll = Effect.gen(function*() {
        yield* redis.command("CONFIG", "RESETSTAT")
        const begun = yield* Clock.currentTimeNanos
        expect(yield* fleet.search(1)).toEqual([])
        const seconds = Number((yield* Clock.currentTimeNanos) - begun) / 1e9
        const perClient = (yield* cacheCalls(redis, 1)) / 200
        // A busy machine takes longer, and so there are more rounds, of two calls within 0.825 seconds at least.
        expect(perClient).toBeLessThanOrEqual(6 + (2 / 0.825) * Math.max(0, seconds - 1))
        expect(perClient).toBeGreaterThan(3)
      })

      yield* searchAll
      yield* simulator.revoke
      yield* searchAll
    }
  )
})
