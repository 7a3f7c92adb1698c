import { afterAll, beforeAll, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted, Schedule } from "effect"
import * as Fleet from "./fleet/Fleet.js"
import type { Settings } from "./fleet/replicaProcess.js"
import * as RedisServer from "./redis/RedisServer.js"
import type { Sight } from "./storms/simulatorProcess.js"
import * as SpawnedSimulator from "./storms/SpawnedSimulator.js"

const size = 12

const searchesEach = 10

/** Searches that each replica has in flight all the time while it is under load. */
const loops = 50

/** How long a search takes under load: 12 replicas, 2 cores and no latency would measure the machine. */
const searchLatency = 3_000

const tokenLatency = 2_000

const lease = 4_000

const print = (line: string) => Effect.sync(() => console.log(line))

const inSeconds = (duration: Duration.Duration) => `${Duration.toSeconds(duration).toFixed(1)} s`

const failedOf = ({ answered, failed }: Fleet.Sum) => {
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0)
  return `failed searches ${failures} of ${answered + failures}`
}

RedisServer.describeWithRedis("A fleet of 12 processes that share a token", () => {
  let program: Fleet.Program

  beforeAll(async () => {
    program = await Fleet.bundle()
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

  it.scopedLive(
    "costs one exchange when all of it starts cold at the same moment, and none when all of it starts again",
    () =>
      Effect.gen(function*() {
        const { simulator, started } = yield* world()
        const startTogether = (what: string) =>
          Effect.gen(function*() {
            const before = yield* simulator.sight
            const replicas = yield* started
            const [took, sum] = yield* Effect.timed(Fleet.tell(replicas, { name: "search", count: searchesEach }))
            const after = yield* simulator.sight
            yield* print(
              `${what}: exchanges ${after.exchanges - before.exchanges}, ${failedOf(sum)}, ${inSeconds(took)}`
            )
            expect(new Set(yield* Fleet.end(replicas))).toEqual(new Set([0]))
            return { exchanges: after.exchanges, ...sum }
          })

        const noneFailed = { answered: size * searchesEach, failed: {}, exchangedAlone: 0, warnings: 0 }
        const cold = yield* startTogether(`cold start of ${size} replicas together`)
        const warm = yield* startTogether(`all ${size} replicas started again while Redis holds the token`)
        expect(cold).toEqual({ ...noneFailed, exchanges: 1, exchanged: 1, handedOver: size - 1 })
        expect(warm).toEqual({ ...noneFailed, exchanges: 1, exchanged: 0, handedOver: size })
      }),
    120_000
  )

  it.scopedLive(
    "costs one exchange when tokens are revoked under its load, and one a replica while Redis is away; no search fails",
    () =>
      Effect.gen(function*() {
        const { redis, simulator, started } = yield* world()
        const replicas = yield* started
        yield* Fleet.tell(replicas, { name: "search", count: 1 })
        yield* simulator.tell({ name: "setLatency", operation: "search", millis: searchLatency })

        const revokeUnderLoad = (what: string, atRevocation: Effect.Effect<void>) =>
          Effect.gen(function*() {
            yield* Fleet.tell(replicas, { name: "startLoad", loops, over: searchLatency })
            yield* Effect.sleep(1.5 * searchLatency)
            yield* atRevocation
            const before = yield* simulator.tell({ name: "revoke" })
            yield* Effect.sleep(searchLatency / 2)
            const sum = yield* Fleet.tell(replicas, { name: "stopLoad" })
            const after = yield* simulator.sight
            const exchanges = after.exchanges - before.exchanges
            yield* print(
              `revocation under the load of ${size} x ${loops} searches, ${what}: exchanges ${exchanges}, ` +
                `${failedOf(sum)} so far, rejections ${after.rejections - before.rejections}, warnings ${sum.warnings}`
            )
            return { exchanges, ...sum }
          })

        const noneFailed = { answered: expect.any(Number), failed: {} }
        expect(yield* revokeUnderLoad("with Redis", Effect.void)).toEqual({
          ...noneFailed,
          exchanges: 1,
          exchanged: 2,
          exchangedAlone: 0,
          handedOver: 2 * (size - 1),
          warnings: 0
        })
        expect(yield* revokeUnderLoad("Redis away", redis.stop)).toEqual({
          ...noneFailed,
          exchanges: size,
          exchanged: 2,
          exchangedAlone: size,
          handedOver: 2 * (size - 1),
          warnings: size
        })
        yield* redis.start
        expect(yield* revokeUnderLoad("Redis back", Effect.void)).toEqual({
          ...noneFailed,
          exchanges: 1,
          exchanged: 3,
          exchangedAlone: size,
          handedOver: 3 * (size - 1),
          warnings: size
        })
      }),
    120_000
  )

  it.scopedLive(
    "costs one exchange beside the one that its lease holder was killed in, and no search of the others fails",
    () =>
      Effect.gen(function*() {
        const { simulator, started } = yield* world({ lease, tokenTimeout: 3_000 })
        yield* simulator.tell({ name: "setLatency", operation: "token", millis: tokenLatency })
        const simulatorSees = (until: (seen: Sight) => boolean) =>
          Effect.repeat(simulator.sight, { until, schedule: Schedule.spaced("10 millis") }).pipe(
            Effect.timeoutFail({ duration: "1 minute", onTimeout: () => "the simulator did not see it in time" })
          )

        const killHolder = (what: string, holder: Fleet.Replica, others: ReadonlyArray<Fleet.Replica>) =>
          Effect.gen(function*() {
            const before = yield* simulator.sight
            yield* Effect.fork(holder.tell({ name: "search", count: 1 }))
            yield* simulatorSees(({ openExchanges }) => openExchanges === 1)
            const searches = yield* Effect.fork(Fleet.tell(others, { name: "search", count: searchesEach }))
            yield* Effect.sleep("1 second")
            const atDeath = yield* simulator.sight
            yield* holder.kill
            const [waited] = yield* Effect.timed(simulatorSees(({ exchanges }) => exchanges > atDeath.exchanges))
            const sum = yield* Fiber.join(searches)
            const seen = yield* simulator.sight
            yield* print(
              `lease holder killed in mid-exchange, ${what}: exchanges ${seen.exchanges - before.exchanges}, ` +
                `${failedOf(sum)} by the ${others.length} survivors so far, ` +
                `the second exchange ${inSeconds(waited)} after the death, with a lease of ${lease / 1000} s`
            )
            expect(atDeath).toMatchObject({ exchanges: before.exchanges + 1, openExchanges: 1 })
            expect(seen).toMatchObject({
              exchanges: before.exchanges + 2,
              abandonedExchanges: before.abandonedExchanges + 1
            })
            expect(sum).toMatchObject({ failed: {}, exchangedAlone: 0, warnings: 0 })
          })

        const [first, second, ...others] = yield* started
        if (first === undefined || second === undefined) return yield* Effect.dieMessage("a fleet needs two replicas")
        yield* killHolder("all of them cold", first, [second, ...others])
        yield* simulator.tell({ name: "revoke" })
        yield* killHolder("after a revocation", second, others)
      }),
    120_000
  )
})
