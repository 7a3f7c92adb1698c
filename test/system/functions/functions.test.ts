import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { type Duration, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as RedisServer from "../redis/RedisServer.js"
import * as FunctionProcess from "./FunctionProcess.js"
import type { Settings } from "./searchingFunction.js"

const timeout = 60_000

const SimulatorOnPort = Simulator.layerServer().pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

interface Place {
  readonly simulator: Simulator.Service
  readonly start: (settings?: Partial<Settings>) => Effect.Effect<FunctionProcess.FunctionProcess, never, Scope.Scope>
}

const inPlace = <A, E>(use: (place: Place) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    const { address } = yield* HttpServer.HttpServer
    const baseUrl = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    return yield* use({
      simulator,
      start: (settings) => FunctionProcess.start({ baseUrl, background: false, ...settings })
    })
  }).pipe(Effect.provide(SimulatorOnPort))

/** Waits until the service has begun so many exchanges or searches. */
const begun = (simulator: Simulator.Service, operation: "exchanges" | "searches", times: number) =>
  Effect.repeat(simulator.counters, {
    until: (counters) => counters[operation] >= times,
    schedule: Schedule.spaced("10 millis")
  }).pipe(Effect.timeout("20 seconds"), Effect.orDie)

/** Freezes a function half a second after eight searches began, and says how they ended once it went on. */
const searchFrozenFor = (
  process: FunctionProcess.FunctionProcess,
  duration: Duration.DurationInput,
  meanwhile: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function*() {
    const searches = yield* process.begin(8)
    yield* Effect.sleep("500 millis")
    yield* process.freeze
    yield* Effect.sleep(duration)
    yield* meanwhile
    yield* process.thaw
    return yield* searches
  })

describe.each([{ background: false }, { background: true }])("a function with %j", (settings) => {
  it.scopedLive(
    "that was frozen past its token's end answers its next searches with one exchange",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          yield* simulator.setTokenLifetime(3)
          const process = yield* start(settings)
          expect(yield* process.search(1)).toEqual({ answered: 1 })
          const { exchanges } = yield* simulator.counters
          yield* process.freeze
          yield* Effect.sleep("4 seconds")
          yield* simulator.setTokenLifetime(3_600)
          yield* process.thaw
          expect(yield* process.search(8)).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges - exchanges).toBe(1)
        })
      ),
    timeout
  )

  it.scopedLive(
    "that was frozen during an exchange answers with that exchange",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          yield* simulator.setLatency("token", "1 second")
          const process = yield* start(settings)
          expect(yield* searchFrozenFor(process, "3 seconds")).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges).toBe(1)
        })
      ),
    timeout
  )

  it.scopedLive(
    "that was frozen during a search answers it",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          const process = yield* start(settings)
          yield* process.search(1)
          yield* simulator.setLatency("search", "1 second")
          expect(yield* searchFrozenFor(process, "3 seconds")).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges).toBe(1)
        })
      ),
    timeout
  )

  it.scopedLive(
    "that was frozen during an exchange for longer than its token lived answers with one exchange more",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          yield* simulator.setTokenLifetime(2)
          yield* simulator.setLatency("token", "1 second")
          const process = yield* start(settings)
          expect(yield* searchFrozenFor(process, "4 seconds", simulator.setTokenLifetime(3_600))).toEqual({
            answered: 8
          })
          expect((yield* simulator.counters).exchanges).toBeLessThanOrEqual(2)
        })
      ),
    timeout
  )
})

describe("a function that was frozen for longer than a timeout", () => {
  it.scopedLive(
    "fails in a timeout during an exchange, and answers the next searches with an exchange more",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          yield* simulator.setLatency("token", "1 second")
          const process = yield* start({ tokenTimeout: 2_000 })
          expect(yield* searchFrozenFor(process, "4 seconds")).toEqual({ "TransportError Timeout": 8 })
          yield* Effect.sleep("1500 millis")
          expect(yield* process.search(8)).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges).toBe(2)
        })
      ),
    timeout
  )

  it.scopedLive(
    "fails in a timeout during a search, and answers the next ones",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          const process = yield* start({ requestTimeout: 2_000 })
          yield* process.search(1)
          yield* simulator.setLatency("search", "1 second")
          expect(yield* searchFrozenFor(process, "4 seconds")).toEqual({ "TransportError Timeout": 8 })
          expect(yield* process.search(8)).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges).toBe(1)
        })
      ),
    timeout
  )
})

describe("a function with background: false", () => {
  it.scopedLive(
    "ends by itself long before requestTimeout once its last search is over, though nobody closes its layer",
    () =>
      inPlace(({ start }) =>
        Effect.gen(function*() {
          const process = yield* start({ requestTimeout: 3_600_000 })
          expect(yield* process.search(8)).toEqual({ answered: 8 })
          expect(yield* process.end).toBe(0)
        })
      ),
    timeout
  )
})

RedisServer.describeWithRedis("functions that share a token", () => {
  it.scopedLive(
    "answer where the one that holds the lease is frozen, with an exchange more, and share again",
    () =>
      inPlace(({ simulator, start }) =>
        Effect.gen(function*() {
          const redis = yield* RedisServer.make()
          const settings = { lease: 3_000, tokenTimeout: 2_000, redisUrl: Redacted.value(redis.url) }
          yield* simulator.setLatency("token", "500 millis")
          const [holder, other] = yield* Effect.all([start(settings), start(settings)])
          const held = yield* holder.begin(8)
          yield* begun(simulator, "exchanges", 1)
          yield* holder.freeze
          expect(yield* other.search(8)).toEqual({ answered: 8 })
          expect((yield* simulator.counters).exchanges).toBe(2)
          yield* holder.thaw
          expect(yield* held).toEqual({ answered: 8 })
          expect(yield* Effect.all([holder.search(8), other.search(8)])).toEqual([{ answered: 8 }, { answered: 8 }])
          expect((yield* simulator.counters).exchanges).toBeLessThanOrEqual(3)
        })
      ),
    timeout
  )
})
