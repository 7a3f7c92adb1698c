import { expect } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import * as RedisServer from "./RedisServer.js"
import { cost, exchanges, replica, revocationCost, searchAll, withSimulator } from "./replicas.js"
import * as TcpProxy from "./TcpProxy.js"

const count = 4

const surroundings = Effect.gen(function*() {
  const server = yield* RedisServer.make()
  const proxy = yield* TcpProxy.make(server.port)
  const withOwnConnection = replica(RedisTokenCache.layer({ url: proxy.url }), { cacheTimeout: 250 })
  const replicas = yield* Effect.replicateEffect(withOwnConnection, count)
  return { server, proxy, replicas }
})

type Surroundings = Effect.Effect.Success<typeof surroundings>

interface Weather {
  readonly title: string
  readonly begins: (around: Surroundings) => Effect.Effect<unknown>
  readonly ends: (around: Surroundings) => Effect.Effect<unknown>
}

/** Weather in which the cache is of no use. */
const weathers: ReadonlyArray<Weather> = [
  { title: "is killed", begins: ({ server }) => server.kill, ends: ({ server }) => server.start },
  { title: "is frozen", begins: ({ server }) => server.freeze, ends: ({ server }) => server.thaw },
  {
    title: "loses its connections before it responds",
    begins: ({ proxy }) => proxy.setCuttingResponses(true),
    ends: ({ proxy }) => proxy.setCuttingResponses(false)
  }
]

RedisServer.describeWithRedis("replicas on a Redis that", () => {
  withSimulator.each(weathers.map((weather) => [weather.title, weather] as const))(
    "%s: each replica exchanges by itself and logs a warning until Redis recovers",
    function*([, { begins, ends }]) {
      const around = yield* surroundings
      const { replicas } = around
      expect(yield* cost(searchAll(replicas))).toBe(1)
      yield* begins(around)
      expect(yield* revocationCost(replicas)).toBe(count)
      expect(replicas.map(({ warnings }) => warnings.length > 0)).toEqual(replicas.map(() => true))
      yield* ends(around)
      yield* Effect.repeat(revocationCost(replicas), {
        until: (exchanges) => exchanges === 1,
        schedule: Schedule.spaced("500 millis")
      }).pipe(Effect.timeout("30 seconds"))
    }
  )

  withSimulator.each<readonly [string, number, (server: RedisServer.RedisServer) => Effect.Effect<unknown>]>([
    ["is killed during a shared exchange: each replica exchanges once", count, ({ kill }) => kill],
    ["is flushed during a shared exchange: one more exchange follows", 2, ({ command }) => command("FLUSHALL")]
  ])("%s", function*([, exchangesOfAll, happens], simulator) {
    const { replicas, server } = yield* surroundings
    yield* simulator.setLatency("token", "1 second")
    const searches = yield* Effect.fork(cost(searchAll(replicas)))
    yield* Effect.repeat(exchanges, { until: (exchanges) => exchanges > 0, schedule: Schedule.spaced(10) })
    yield* Effect.sleep("100 millis")
    yield* happens(server)
    expect(yield* Fiber.join(searches)).toBe(exchangesOfAll)
  })
})
