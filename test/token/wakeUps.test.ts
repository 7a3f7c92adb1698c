import { AsyncLocalStorage } from "node:async_hooks"
import { describe, expect, it, vi } from "@effect/vitest"
import { Array as Arr, Effect, Scope, TestClock } from "effect"
import * as WakeUps from "../../src/internal/token/wakeUps.js"
import { test, testLive } from "../support/doubles/arranged.js"
import * as Time from "../support/doubles/Time.js"

/** Sets a wake-up in each of these milliseconds, each in a client of its own, and returns when they come. */
const wokenAfter = (delays: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const seen: Array<number> = []
    for (const delay of delays) (yield* WakeUps.make)(delay, () => seen.push(clock.unsafeCurrentTimeMillis()))
    return seen
  })

describe("wake-ups of idle clients", () => {
  test("wake-ups that are due within the same five seconds share one timer", function*() {
    yield* TestClock.setTime(12_345)
    const seen = yield* wokenAfter(Arr.makeBy(50, (index) => 60_000 + 99.9 * index))
    expect(yield* Time.timers).toBe(1)
    yield* TestClock.setTime(72_345)
    expect(seen).toEqual(Arr.replicate(72_345, 50))
  })

  test("a wake-up that is due within 30 seconds comes exactly on time", function*() {
    yield* TestClock.setTime(12_345)
    const seen = yield* wokenAfter([1_250, 29_999])
    yield* TestClock.adjust("30 seconds")
    expect(seen).toEqual([13_595, 42_344])
  })

  test("a wake-up can be set again while it wakes its client", function*() {
    const wakeAfter = yield* WakeUps.make
    const seen: Array<number> = []
    const clock = yield* Effect.clock
    const wakeUp = () => {
      seen.push(clock.unsafeCurrentTimeMillis())
      wakeAfter(60_000, wakeUp)
    }
    wakeAfter(60_000, wakeUp)
    yield* TestClock.adjust("3 minutes")
    expect(seen).toEqual([60_000, 120_000, 180_000])
    expect(yield* Time.timers).toBe(1)
  })

  test("a wake-up can be set for the same time again after the clock was set back", function*() {
    const first = yield* wokenAfter([60_000])
    yield* TestClock.setTime(60_000)
    expect(first).toEqual([60_000])
    yield* TestClock.setTime(0)
    const second = yield* wokenAfter([60_000])
    yield* TestClock.setTime(60_000)
    expect(second).toEqual([60_000])
  })

  testLive("a wake-up doesn't keep the AsyncLocalStorage context of the call that sets it", function*() {
    const wakeAfter = yield* WakeUps.make
    const storage = new AsyncLocalStorage<string>()
    const context = yield* Effect.async<string | undefined>((resume) =>
      storage.run("request-1", () => wakeAfter(1, () => resume(Effect.sync(() => storage.getStore()))))
    )
    expect(context).toBeUndefined()
  })

  test("closing a client cancels only its own wake-ups", function*() {
    const closed = yield* Effect.scoped(wokenAfter([60_000, 60_000]))
    const open = yield* wokenAfter([60_000])
    yield* Effect.scoped(wokenAfter([60_000]))
    yield* TestClock.adjust("1 minute")
    expect(closed).toEqual([])
    expect(open).toEqual([60_000])
  })

  test("a client that is closed can't set another wake-up", function*() {
    const wakeAfter = yield* Effect.scoped(WakeUps.make)
    wakeAfter(60_000, () => {})
    expect(yield* Time.timers).toBe(0)
  })

  it.each<readonly [how: string, lose: () => void]>([
    ["replaced", () => vi.useRealTimers().useFakeTimers()],
    ["cleared", () => vi.clearAllTimers()]
  ])("a wake-up that is lost because fake timers are %s doesn't hold back a later one", async (_, lose) => {
    const newClient = Effect.flatMap(Scope.make(), (scope) => Scope.extend(WakeUps.make, scope))
    const [lost, later] = [vi.fn(), vi.fn()]
    vi.useFakeTimers()
    Effect.runSync(newClient)(60_000, lost)
    lose()
    Effect.runSync(newClient)(60_000, later)
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    expect(lost).not.toHaveBeenCalled()
    expect(later).toHaveBeenCalledOnce()
  })
})
