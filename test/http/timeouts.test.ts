import { AsyncLocalStorage } from "node:async_hooks"
import { describe, expect, it, vi } from "@effect/vitest"
import { Effect, FastCheck, TestClock } from "effect"
import * as Timeouts from "../../src/internal/http/timeouts.js"
import { test, testLive } from "../support/doubles/arranged.js"
import * as Time from "../support/doubles/Time.js"

const make = Timeouts.make(30_000)

class Noted extends Timeouts.Timed {
  constructor(private readonly name: number, private readonly seen: Array<number>) {
    super()
  }

  onEnd(reason: "Timeout" | "Closed") {
    this.seen.push(reason === "Timeout" ? this.name : -this.name)
  }
}

describe("timeouts of requests", () => {
  it.scoped.prop(
    "pending requests time out in order, even if others have left",
    [FastCheck.array(FastCheck.boolean(), { minLength: 1, maxLength: 20 })],
    ([leaves]) =>
      Effect.gen(function*() {
        const seen: Array<number> = []
        const timeouts = yield* make
        const all = leaves.map((_, index) => new Noted(index, seen))
        for (const one of all) {
          timeouts.add(one)
          yield* TestClock.adjust("1 second")
        }
        all.filter((_, index) => leaves[index]).forEach((one) => one.leave())
        yield* TestClock.adjust("1 minute")
        expect(seen).toEqual(leaves.flatMap((left, index) => left ? [] : [index]))
      })
  )

  testLive("a timeout doesn't keep the AsyncLocalStorage context of the first request", function*() {
    const timeouts = yield* Timeouts.make(1)
    const storage = new AsyncLocalStorage<string>()
    const context = yield* Effect.async<string | undefined>((resume) => {
      class Reading extends Timeouts.Timed {
        onEnd() {
          resume(Effect.succeed(storage.getStore()))
        }
      }
      storage.run("request-1", () => timeouts.add(new Reading()))
    })
    expect(context).toBeUndefined()
  })

  test("one fiber sleeps for all timeouts, and a new one starts after an idle period", function*() {
    const seen: Array<number> = []
    const timeouts = yield* make
    for (const name of [1, 2]) timeouts.add(new Noted(name, seen))
    yield* TestClock.adjust("29999 millis")
    expect(seen).toEqual([])
    expect(yield* Time.timers).toBe(1)
    yield* TestClock.adjust("1 minute")
    timeouts.add(new Noted(3, seen))
    yield* TestClock.adjust("30 seconds")
    expect(seen).toEqual([1, 2, 3])
    expect(yield* Time.timers).toBe(0)
  })

  testLive("closing the scope ends pending requests immediately, and leaves no timer", function*() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
    const seen: Array<number> = []
    yield* Effect.scoped(Effect.map(Effect.uninterruptible(make), ({ add }) => add(new Noted(1, seen))))
    yield* Effect.promise(() => vi.advanceTimersByTimeAsync(1))
    expect(seen).toEqual([-1])
    expect(vi.getTimerCount()).toBe(0)
  })

  testLive("timeouts fire on time in a test with fake timers and a real monotonic clock", function*() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
    const seen: Array<number> = []
    const timeouts = yield* make
    timeouts.add(new Noted(1, seen))
    yield* Effect.promise(() => vi.advanceTimersByTimeAsync(31_000))
    expect(seen).toEqual([1])
  })
})
