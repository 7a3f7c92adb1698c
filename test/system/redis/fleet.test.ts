/** Replicas on a real Redis cost what the simulation in test/shared/fleet.test.ts says. */
import { expect } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import * as RedisServer from "./RedisServer.js"
import { exchangesDuring, replica, revocationCost, searchAll, withSimulator } from "./replicas.js"

const size = 200

/** A replica with its own connection. Redis may take long on a busy machine, and the lease must be longer than that. */
const replicaOn = ({ url }: RedisServer.RedisServer) =>
  replica(RedisTokenCache.layer({ url }), { cacheTimeout: "20 seconds", lease: "1 minute" })

/** How often the cache was called. */
const cacheCalls = ({ command }: RedisServer.RedisServer) =>
  Effect.map(command("INFO", "commandstats"), (text) => {
    const callsOf = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(String(text))?.[1] ?? 0)
    return callsOf("getrange") + callsOf("eval")
  })

RedisServer.describeWithRedis("replicas on Redis", () => {
  withSimulator(
    "an exchange costs each of 200 replicas six cache calls, plus two per additional second",
    function*({ setLatency }) {
      const redis = yield* RedisServer.make()
      const replicas = yield* Effect.replicateEffect(replicaOn(redis), size)
      yield* setLatency("token", "1 second")

      const expectOneExchange = (costOf: typeof revocationCost) =>
        Effect.gen(function*() {
          yield* redis.command("CONFIG", "RESETSTAT")
          const startedAt = yield* Clock.currentTimeNanos
          expect(yield* costOf(replicas)).toBe(1)
          const seconds = Number((yield* Clock.currentTimeNanos) - startedAt) / 1e9
          const perReplica = (yield* cacheCalls(redis)) / size
          // A busy machine takes longer, and so there are more rounds, of two calls within 0.825 seconds at least.
          expect(perReplica).toBeLessThanOrEqual(6 + (2 / 0.825) * Math.max(0, seconds - 1))
          expect(perReplica).toBeGreaterThan(3)
        })

      yield* expectOneExchange((all) => exchangesDuring(searchAll(all)))
      yield* expectOneExchange(revocationCost)
    }
  )
})
