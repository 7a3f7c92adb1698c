import { describe, expect } from "@effect/vitest"
import { type Duration, Effect, Fiber, Redacted, Schedule } from "effect"
import { arrangedLive } from "../../doubles/arranged.js"
import * as RedisServer from "../redis/RedisServer.js"
import * as SimulatorOnPort from "../SimulatorOnPort.js"
import * as OrderedProcess from "../storms/OrderedProcess.js"
import type { Outcomes, Settings } from "./searchingFunction.js"

/** A function as a process that is frozen and thawed, as platforms do between two calls; it is told how often to search at once. */
const startFunction = (settings: Settings) =>
  OrderedProcess.start<object, number, Outcomes>(
    ["--import", "tsx", "test/system/functions/searchingFunction.ts", JSON.stringify(settings)]
  )

/** Tests with a simulator, and functions that call it. */
const inPlace = arrangedLive(
  Effect.map(SimulatorOnPort.place, ({ baseUrl, simulator }) => ({
    simulator,
    start: (settings: Partial<Settings> = {}) => startFunction({ baseUrl, background: false, ...settings })
  })),
  SimulatorOnPort.layer
)

/** Freezes a function half a second after eight searches began, and says how they ended once it went on. */
const searchFrozenFor = (
  process: Effect.Effect.Success<ReturnType<typeof startFunction>>,
  duration: Duration.DurationInput,
  meanwhile: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function*() {
    const searches = yield* Effect.fork(process.tell(8))
    yield* Effect.sleep("500 millis")
    yield* process.freeze
    yield* Effect.sleep(duration)
    yield* meanwhile
    yield* process.thaw
    return yield* Fiber.join(searches)
  })

describe.each([{ background: false }, { background: true }])("a function with %j", (settings) => {
  inPlace(
    "that was frozen past its token's end answers its next searches with one exchange",
    function*({ simulator, start }) {
      yield* simulator.setTokenLifetime(3)
      const process = yield* start(settings)
      expect(yield* process.tell(1)).toEqual({ answered: 1 })
      const { exchanges } = yield* simulator.counters
      yield* process.freeze
      yield* Effect.sleep("4 seconds")
      yield* simulator.setTokenLifetime(3_600)
      yield* process.thaw
      expect(yield* process.tell(8)).toEqual({ answered: 8 })
      expect((yield* simulator.counters).exchanges - exchanges).toBe(1)
    }
  )

  inPlace("that was frozen during an exchange answers with that exchange", function*({ simulator, start }) {
    yield* simulator.setLatency("token", "1 second")
    const process = yield* start(settings)
    expect(yield* searchFrozenFor(process, "3 seconds")).toEqual({ answered: 8 })
    expect((yield* simulator.counters).exchanges).toBe(1)
  })

  inPlace("that was frozen during a search answers it", function*({ simulator, start }) {
    const process = yield* start(settings)
    yield* process.tell(1)
    yield* simulator.setLatency("search", "1 second")
    expect(yield* searchFrozenFor(process, "3 seconds")).toEqual({ answered: 8 })
    expect((yield* simulator.counters).exchanges).toBe(1)
  })

  inPlace(
    "that was frozen during an exchange for longer than its token lived answers with one exchange more",
    function*({ simulator, start }) {
      yield* simulator.setTokenLifetime(2)
      yield* simulator.setLatency("token", "1 second")
      const process = yield* start(settings)
      expect(yield* searchFrozenFor(process, "4 seconds", simulator.setTokenLifetime(3_600))).toEqual({
        answered: 8
      })
      expect((yield* simulator.counters).exchanges).toBeLessThanOrEqual(2)
    }
  )
})

describe("a function that was frozen for longer than a timeout", () => {
  inPlace(
    "fails in a timeout during an exchange, and answers the next searches with an exchange more",
    function*({ simulator, start }) {
      yield* simulator.setLatency("token", "1 second")
      const process = yield* start({ tokenTimeout: 2_000 })
      expect(yield* searchFrozenFor(process, "4 seconds")).toEqual({ "TransportError Timeout": 8 })
      yield* Effect.sleep("1500 millis")
      expect(yield* process.tell(8)).toEqual({ answered: 8 })
      expect((yield* simulator.counters).exchanges).toBe(2)
    }
  )

  inPlace("fails in a timeout during a search, and answers the next ones", function*({ simulator, start }) {
    const process = yield* start({ requestTimeout: 2_000 })
    yield* process.tell(1)
    yield* simulator.setLatency("search", "1 second")
    expect(yield* searchFrozenFor(process, "4 seconds")).toEqual({ "TransportError Timeout": 8 })
    expect(yield* process.tell(8)).toEqual({ answered: 8 })
    expect((yield* simulator.counters).exchanges).toBe(1)
  })
})

describe("a function with background: false", () => {
  inPlace(
    "ends by itself long before requestTimeout once its last search is over, though nobody closes its layer",
    function*({ start }) {
      const process = yield* start({ requestTimeout: 3_600_000 })
      expect(yield* process.tell(8)).toEqual({ answered: 8 })
      expect(yield* process.end).toBe(0)
    }
  )
})

RedisServer.describeWithRedis("functions that share a token", () => {
  inPlace(
    "answer where the one that holds the lease is frozen, with an exchange more, and share again",
    function*({ simulator, start }) {
      const redis = yield* RedisServer.make()
      const settings = { lease: 3_000, tokenTimeout: 2_000, redisUrl: Redacted.value(redis.url) }
      yield* simulator.setLatency("token", "500 millis")
      const [holder, other] = yield* Effect.all([start(settings), start(settings)])
      const held = yield* Effect.fork(holder.tell(8))
      yield* Effect.repeat(simulator.counters, {
        until: ({ exchanges }) => exchanges === 1,
        schedule: Schedule.spaced("10 millis")
      })
      yield* holder.freeze
      expect(yield* other.tell(8)).toEqual({ answered: 8 })
      expect((yield* simulator.counters).exchanges).toBe(2)
      yield* holder.thaw
      expect(yield* Fiber.join(held)).toEqual({ answered: 8 })
      expect(yield* Effect.all([holder.tell(8), other.tell(8)])).toEqual([{ answered: 8 }, { answered: 8 }])
      expect((yield* simulator.counters).exchanges).toBeLessThanOrEqual(3)
    }
  )
})
