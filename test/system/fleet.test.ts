import { afterAll, beforeAll, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schedule } from "effect"
import { type Bundle, bundle } from "./bundle.js"
import * as Fleet from "./fleet/Fleet.js"
import type { Settings } from "./fleet/replicaProcess.js"
import * as RedisServer from "./redis/RedisServer.js"
import type { Sight } from "./storms/simulatorProcess.js"
import * as SpawnedSimulator from "./storms/SpawnedSimulator.js"

const searchesEach = 10

/** Long enough for a busy machine to kill the holder in the middle of its exchange. */
const tokenLatency = 6_000

const lease = 12_000

/** `ioredis` names the package that stands for it. */
const fleet = (ioredis: string, size: number) => () => {
  let program: Bundle

  beforeAll(async () => {
    program = await bundle("test/system/fleet/replicaProcess.ts", ioredis === "ioredis" ? {} : { ioredis })
  })

  afterAll(() => program.remove())

  const world = (settings: Omit<Settings, "baseUrl" | "redisUrl"> = {}) =>
    Effect.gen(function*() {
      const redis = yield* RedisServer.make()
      const simulator = yield* SpawnedSimulator.make
      const started = Fleet.start(size, program, {
        ...settings,
        baseUrl: simulator.baseUrl,
        redisUrl: Redacted.value(redis.url)
      })
      return { redis, simulator, started }
    })

  it.scopedLive("a cold start and a revocation cost one exchange each, and a restart of all replicas costs none", () =>
    Effect.gen(function*() {
      const { simulator, started } = yield* world()
      const search = (replicas: ReadonlyArray<Fleet.Replica>) =>
        Effect.gen(function*() {
          const { answered, failed, warnings } = yield* Fleet.tell(replicas, { name: "search", count: searchesEach })
          expect([failed, warnings]).toEqual([{}, 0])
          return { answered, exchanges: (yield* simulator.sight).exchanges }
        })

      const replicas = yield* started
      expect(yield* search(replicas)).toEqual({ answered: size * searchesEach, exchanges: 1 })
      yield* simulator.tell({ name: "revoke" })
      expect(yield* search(replicas)).toEqual({ answered: 2 * size * searchesEach, exchanges: 2 })
      expect(new Set(yield* Fleet.end(replicas))).toEqual(new Set([0]))
      expect(yield* search(yield* started)).toEqual({ answered: size * searchesEach, exchanges: 2 })
    }))

  it.scopedLive("if the lease holder is killed during its exchange, one more exchange follows and no search of the others fails", () =>
    Effect.gen(function*() {
      const { simulator, started } = yield* world({ lease, tokenTimeout: 7_000 })
      const setLatency = (millis: number) => simulator.tell({ name: "setLatency", operation: "token", millis })
      const simulatorSees = (until: (seen: Sight) => boolean) =>
        Effect.repeat(simulator.sight, { until, schedule: Schedule.spaced("10 millis") }).pipe(
          Effect.timeoutFail({ duration: "1 minute", onTimeout: () => "the simulator did not see it in time" })
        )

      const killHolder = (holder: Fleet.Replica, others: ReadonlyArray<Fleet.Replica>) =>
        Effect.gen(function*() {
          const before = yield* simulator.sight
          yield* setLatency(tokenLatency)
          yield* Effect.fork(holder.tell({ name: "search", count: 1 }))
          yield* simulatorSees(({ openExchanges }) => openExchanges === 1)
          const searches = yield* Effect.fork(Fleet.tell(others, { name: "search", count: searchesEach }))
          yield* Effect.sleep("300 millis")
          const atDeath = yield* simulator.sight
          yield* holder.kill
          yield* setLatency(0)
          yield* simulatorSees(({ exchanges }) => exchanges > atDeath.exchanges)
          const sum = yield* Fiber.join(searches)
          const seen = yield* simulator.sight
          expect(atDeath).toMatchObject({ exchanges: before.exchanges + 1, openExchanges: 1 })
          expect(seen).toMatchObject({
            exchanges: before.exchanges + 2,
            abandonedExchanges: before.abandonedExchanges + 1
          })
          expect(sum).toMatchObject({ failed: {}, exchangedAlone: 0, warnings: 0 })
        })

      const [first, second, ...others] = yield* started
      if (first === undefined || second === undefined) return yield* Effect.dieMessage("a fleet needs two replicas")
      yield* killHolder(first, [second, ...others])
      yield* simulator.tell({ name: "revoke" })
      yield* killHolder(second, others)
    }))
}

RedisServer.describeWithRedis("fleet: 12 processes that share a token over ioredis 5", fleet("ioredis", 12))

RedisServer.describeWithRedis("fleet: 4 processes that share a token over ioredis 6", fleet("ioredis-6", 4))
