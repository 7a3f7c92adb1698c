import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arrangedLive } from "../../doubles/arranged.js"
import * as RedisServer from "./RedisServer.js"
import * as Replicas from "./replicas.js"
import * as TcpProxy from "./TcpProxy.js"
import * as Unhandled from "./unhandled.js"

const { describeWithRedis } = RedisServer

const count = 4

const layerTo = ({ url }: Pick<RedisServer.RedisServer, "url">) => () => RedisTokenCache.layer({ url })

/** A server, a proxy in front of it, and replicas that know the proxy only. */
const surroundings = Effect.gen(function*() {
  const server = yield* RedisServer.make(["--repl-diskless-sync-delay", "0"])
  const proxy = yield* TcpProxy.make(server.port)
  const replica = yield* Replicas.make(layerTo(proxy)())
  const others = yield* Replicas.makeMany(count - 1, layerTo(proxy))
  const simulator = yield* Simulator.Simulator
  return { server, proxy, replica, others, replicas: [replica, ...others], simulator }
})

/** The same, each replica with a token. */
const running = Effect.tap(surroundings, ({ replicas }) => Replicas.searchAll(replicas))

const revocations = (times: number, replicas: ReadonlyArray<Replicas.Replica>) =>
  Effect.replicateEffect(Replicas.revocationCost(replicas), times)

const shared = [1, 1, 1]

/** What three revocations in a row cost in the end: once each of them cost one exchange, or after many seconds. */
const costsAfterwards = (replicas: ReadonlyArray<Replicas.Replica>) =>
  Effect.gen(function*() {
    const end = performance.now() + 60_000
    let costs = yield* revocations(3, replicas)
    while (costs.some((cost) => cost > 1) && performance.now() < end) {
      yield* Effect.sleep("50 millis")
      costs = yield* revocations(3, replicas)
    }
    return costs
  })

const warningsOf = (replicas: ReadonlyArray<Replicas.Replica>) => Effect.forEach(replicas, ({ warnings }) => warnings)

const oneEach = Array.from({ length: count }, () => 1)

const live = arrangedLive(Effect.void, Simulator.layerHttpClient())

const whileRunning = arrangedLive(running, Simulator.layerHttpClient())

interface Weather {
  readonly title: string
  /** Whether calls of the cache are not even refused. */
  readonly isSilent?: boolean
  readonly begins: (around: Effect.Effect.Success<typeof surroundings>) => Effect.Effect<unknown>
  readonly ends: (around: Effect.Effect.Success<typeof surroundings>) => Effect.Effect<unknown>
}

/** So full that the removal of an entry makes no room for another one. */
const fill = ({ command }: RedisServer.RedisServer) =>
  Effect.gen(function*() {
    yield* command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    yield* Effect.forEach(
      Array.from({ length: 30 }, (_, index) => index),
      (index) => command("SET", `ballast:${index}`, "x".repeat(100_000))
    )
    yield* command("CONFIG", "SET", "maxmemory", "3mb")
  })

/** Weather in which no call of the cache brings anything. */
const weathers: ReadonlyArray<Weather> = [
  {
    title: "is stopped",
    begins: ({ server }) => server.stop,
    ends: ({ server }) => server.start
  },
  {
    title: "is killed",
    begins: ({ server }) => server.kill,
    ends: ({ server }) => server.start
  },
  {
    title: "answers after 30 s",
    isSilent: true,
    begins: ({ proxy }) => proxy.setDelay(30_000),
    ends: ({ proxy }) => proxy.setDelay(0)
  },
  {
    title: "is frozen",
    isSilent: true,
    begins: ({ server }) => server.freeze,
    ends: ({ server }) => server.thaw
  },
  {
    title: "is paused by CLIENT PAUSE",
    isSilent: true,
    begins: ({ server }) => server.command("CLIENT", "PAUSE", 3_000, "ALL"),
    ends: ({ server }) => server.command("PING")
  },
  {
    title: "is full",
    begins: ({ server }) => fill(server),
    ends: ({ server }) => server.command("FLUSHALL")
  },
  {
    title: "is a read-only replica",
    begins: ({ server }) => server.command("REPLICAOF", "127.0.0.1", 1),
    ends: ({ server }) => server.command("REPLICAOF", "NO", "ONE")
  },
  {
    title: "takes no connections",
    begins: ({ proxy }) => Effect.zipRight(proxy.setRefusing(true), proxy.cut),
    ends: ({ proxy }) => proxy.setRefusing(false)
  },
  {
    title: "has its connections cut in the middle of commands",
    begins: ({ proxy }) => proxy.cutNextCommands(1_000_000),
    ends: ({ proxy }) => proxy.cutNextCommands(0)
  },
  {
    title: "has its connections cut before the answers",
    begins: ({ proxy }) => proxy.cutNextAnswers(1_000_000),
    ends: ({ proxy }) => proxy.cutNextAnswers(0)
  }
]

describeWithRedis("a Redis in bad weather", () => {
  describe.each(weathers)("that $title", ({ begins, ends, isSilent }) => {
    whileRunning("fails no search, nor more exchanges than replicas", function*(around) {
      yield* begins(around)
      expect(yield* revocations(2, around.replicas)).toEqual([count, count])
    })

    whileRunning("costs a search the time of one call of the cache", function*(around) {
      yield* begins(around)
      yield* around.simulator.revoke
      const before = yield* around.replica.failedCalls
      yield* around.replica.search
      const failures = (yield* around.replica.failedCalls) - before
      expect(isSilent ? [1] : [1, 2]).toContain(failures)
    })

    whileRunning("is told of once a minute by each replica", function*(around) {
      yield* begins(around)
      yield* revocations(3, around.replicas)
      expect(yield* warningsOf(around.replicas)).toEqual(oneEach)
    })

    whileRunning("is shared again by itself afterwards", function*(around) {
      yield* begins(around)
      yield* revocations(2, around.replicas)
      yield* ends(around)
      expect(yield* costsAfterwards(around.replicas)).toEqual(shared)
    })
  })

  describe("that changes while replicas wait for a peer's exchange", () => {
    /** What a cold start costs when this happens in the middle of the one exchange that all wait for. */
    const coldStart = (happens: (around: Effect.Effect.Success<typeof surroundings>) => Effect.Effect<unknown>) =>
      Effect.gen(function*() {
        const around = yield* surroundings
        yield* around.simulator.setLatency("token", "500 millis")
        const searches = yield* Effect.fork(Replicas.cost(Replicas.searchAll(around.replicas)))
        yield* Effect.repeat(Replicas.exchanges, { until: (exchanges) => exchanges > 0, schedule: Schedule.spaced(10) })
        yield* Effect.sleep("100 millis")
        yield* happens(around)
        return yield* Fiber.join(searches)
      })

    live("lets each replica exchange once when it goes away", function*() {
      expect(yield* coldStart(({ server }) => server.kill)).toBe(count)
    })

    live("costs one exchange when every connection is cut and can be made again", function*() {
      expect(yield* coldStart(({ proxy }) => proxy.cut)).toBe(1)
    })

    live("costs one exchange more when it is flushed: the lease is lost", function*() {
      expect(yield* coldStart(({ server }) => server.command("FLUSHALL"))).toBe(2)
    })
  })

  describe("that fails over to a replica", () => {
    const failingOver = Effect.gen(function*() {
      const around = yield* running
      const successor = yield* RedisServer.make()
      yield* successor.command("REPLICAOF", "127.0.0.1", around.server.port)
      yield* Effect.repeat(successor.command("DBSIZE"), {
        until: (keys) => Number(keys) > 0,
        schedule: Schedule.spaced("20 millis")
      })
      yield* around.server.kill
      return { ...around, successor }
    })

    const duringFailover = arrangedLive(failingOver, Simulator.layerHttpClient())

    duringFailover("is shared again by itself", function*({ proxy, replicas, successor }) {
      yield* successor.command("REPLICAOF", "NO", "ONE")
      yield* proxy.switchTo(successor.port)
      expect(yield* costsAfterwards(replicas)).toEqual(shared)
    })

    whileRunning(
      "is shared again by itself where the old master stays as a replica, and connections to it stay too",
      function*({ proxy, replicas, server }) {
        const successor = yield* RedisServer.make()
        yield* server.command("REPLICAOF", "127.0.0.1", successor.port)
        yield* proxy.divertTo(successor.port)
        expect(yield* costsAfterwards(replicas)).toEqual(shared)
      }
    )

    duringFailover(
      "is shared again though the connections met the replica before it was promoted",
      function*({ proxy, replicas, successor }) {
        yield* proxy.switchTo(successor.port)
        yield* revocations(2, replicas)
        yield* successor.command("REPLICAOF", "NO", "ONE")
        expect(yield* costsAfterwards(replicas)).toEqual(shared)
      }
    )
  })

  whileRunning(
    "is shared again by itself, over new connections, where those fell silent",
    function*({ proxy, replicas }) {
      yield* proxy.silence
      expect(yield* costsAfterwards(replicas)).toEqual(shared)
    }
  )

  whileRunning(
    "leaves no rejected promise behind when the connection of those who listen is cut while it comes back",
    function*({ proxy, replicas, simulator }) {
      const rejections = yield* Unhandled.rejections
      yield* simulator.setLatency("token", "300 millis")
      yield* Replicas.revocationCost(replicas)
      yield* proxy.cutAt("subscribe")
      yield* proxy.cut
      yield* Effect.sleep("700 millis")
      expect(yield* rejections).toEqual([])
    }
  )
})
