import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Fiber, Scope, TestClock } from "effect"
import { vi } from "vitest"
import * as Deadline from "../../src/internal/deadline.js"
import * as ManualClock from "../doubles/ManualClock.js"
import { ShakenScheduler } from "../model/ShakenScheduler.js"
import { VirtualTime } from "../model/VirtualTime.js"

type CutOff = Deadline.Timed["cutOff"]

class Awaited extends Deadline.Timed {
  constructor(readonly cutOff: CutOff) {
    super()
  }
}

/** Enters one who calls the function once it is cut off, and gives another by which it leaves. */
const entrance = (millis: number) =>
  Effect.map(Deadline.make(millis), ({ enter, leave }) => (cutOff: CutOff) => {
    const awaited = new Awaited(cutOff)
    enter(awaited)
    return () => leave(awaited)
  })

/** A deadline of a second, and the names of those that timed out, in their order. */
const deadline = Effect.map(entrance(1_000), (enter) => {
  const fired: Array<string> = []
  return { fired, enter: (name: string) => enter(() => fired.push(name)) }
})

describe("A deadline", () => {
  it.scoped("is met when its time is over", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      enter("a")
      yield* TestClock.adjust("1 second")
      expect(fired).toEqual(["a"])
    }))

  it.scoped("is not met a millisecond before", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      enter("a")
      yield* TestClock.adjust("999 millis")
      expect(fired).toEqual([])
    }))

  it.scoped("is met once", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      enter("a")
      yield* TestClock.adjust("1 hour")
      expect(fired).toEqual(["a"])
    }))

  it.scoped("is met by each at its own time, in the order in which they came", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      for (const name of ["a", "b", "c"]) {
        enter(name)
        yield* TestClock.adjust("100 millis")
      }
      yield* TestClock.adjust("700 millis")
      expect(fired).toEqual(["a"])
      yield* TestClock.adjust("99 millis")
      expect(fired).toEqual(["a"])
      yield* TestClock.adjust("1 millis")
      expect(fired).toEqual(["a", "b"])
      yield* TestClock.adjust("100 millis")
      expect(fired).toEqual(["a", "b", "c"])
    }))

  it.scoped("is met a millisecond later by one who came a millisecond later", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      enter("a")
      yield* TestClock.adjust("1 millis")
      enter("b")
      yield* TestClock.adjust("999 millis")
      expect(fired).toEqual(["a"])
      yield* TestClock.adjust("1 millis")
      expect(fired).toEqual(["a", "b"])
    }))

  it.scoped("is met by all who came at the same time, in their order", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      const names = Array.from({ length: 1_000 }, (_, index) => String(index))
      names.forEach(enter)
      yield* TestClock.adjust("1 second")
      expect(fired).toEqual(names)
    }))

  it.scoped.each([[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [0], [1], [2], [0, 1], [0, 2], [1, 2]])(
    "is not met by those who left (case %#)",
    (order) =>
      Effect.gen(function*() {
        const { enter, fired } = yield* deadline
        const leaves = ["a", "b", "c"].map(enter)
        for (const index of order) leaves[index]?.()
        yield* TestClock.adjust("1 second")
        expect(fired).toEqual(["a", "b", "c"].filter((_, index) => !order.includes(index)))
      })
  )

  it.scoped("is met by those who came after one who left, at their own time", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      const leave = enter("a")
      yield* TestClock.adjust("500 millis")
      enter("b")
      leave()
      yield* TestClock.adjust("999 millis")
      expect(fired).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(fired).toEqual(["b"])
    }))

  it.scoped("does not care who leaves twice, alone or with others", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      const alone = enter("alone")
      alone()
      alone()
      const [a, , c] = ["a", "b", "c"].map(enter)
      for (const leave of [a, a, alone, c, c]) leave?.()
      enter("d")
      for (const leave of [a, alone, c]) leave?.()
      yield* TestClock.adjust("1 second")
      expect(fired).toEqual(["b", "d"])
    }))

  it.scoped("does not care who leaves after it was met", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      const leave = enter("a")
      yield* TestClock.adjust("1 second")
      enter("b")
      leave()
      yield* TestClock.adjust("1 second")
      expect(fired).toEqual(["a", "b"])
    }))

  it.scoped("is met by those who come after a time in which there was nobody", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      enter("a")()
      yield* TestClock.adjust("10 seconds")
      enter("b")
      yield* TestClock.adjust("999 millis")
      expect(fired).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(fired).toEqual(["b"])
    }))

  it.scoped("may be entered again by whoever meets it", () =>
    Effect.gen(function*() {
      const enter = yield* entrance(1_000)
      let times = 0
      const again = () => {
        times += 1
        enter(again)
      }
      enter(again)
      yield* TestClock.adjust("3500 millis")
      expect(times).toBe(3)
    }))

  it.scoped("may be left by another who meets it first", () =>
    Effect.gen(function*() {
      const enter = yield* entrance(1_000)
      const fired: Array<string> = []
      let leave = () => {}
      enter(() => {
        fired.push("a")
        leave()
      })
      leave = enter(() => fired.push("b"))
      enter(() => fired.push("c"))
      yield* TestClock.adjust("1 second")
      expect(fired).toEqual(["a", "c"])
    }))

  it.scoped("is met by the others though one of them throws", () =>
    Effect.gen(function*() {
      const enter = yield* entrance(1_000)
      let times = 0
      enter(() => {
        throw new Error("a client's own")
      })
      enter(() => times += 1)
      yield* TestClock.adjust("1 second")
      enter(() => times += 1)
      yield* TestClock.adjust("1 second")
      expect(times).toBe(2)
    }))

  it.scoped("costs one timer, however many wait", () =>
    Effect.gen(function*() {
      const { enter } = yield* deadline
      for (let index = 0; index < 1_000; index++) enter(String(index))
      yield* TestClock.adjust("1 millis")
      expect([...(yield* TestClock.sleeps())].length).toBe(1)
    }))

  it.scoped("costs no timer where nobody came", () =>
    Effect.gen(function*() {
      yield* deadline
      yield* TestClock.adjust("1 millis")
      expect([...(yield* TestClock.sleeps())]).toEqual([])
    }))

  it.scoped("costs no timer once its time is over for all", () =>
    Effect.gen(function*() {
      const { enter } = yield* deadline
      enter("a")()
      enter("b")
      yield* TestClock.adjust("2 seconds")
      expect([...(yield* TestClock.sleeps())]).toEqual([])
    }))

  it.live("leaves no timer behind when its scope ends", () =>
    Effect.gen(function*() {
      const time = new VirtualTime()
      const scope = yield* Scope.make()
      const { enter } = yield* deadline.pipe(Scope.extend(scope), Effect.withClock(time))
      enter("a")
      yield* Effect.sleep("10 millis")
      expect(time.pendingTimers).toBe(1)
      yield* Scope.close(scope, Exit.void)
      expect(time.pendingTimers).toBe(0)
    }))

  const closing = Effect.gen(function*() {
    const scope = yield* Scope.make()
    const enter = yield* Scope.extend(entrance(1_000), scope)
    const ends: Array<string> = []
    return {
      close: Scope.close(scope, Exit.void),
      ends,
      enter: (name: string) => enter((why) => ends.push(name + why))
    }
  })

  it.effect("tells those whose time was over of a timeout", () =>
    Effect.gen(function*() {
      const { ends, enter } = yield* closing
      enter("a")
      yield* TestClock.adjust("1 second")
      expect(ends).toEqual(["aTimeout"])
    }))

  it.effect("cuts off all who are there when its scope ends, each once", () =>
    Effect.gen(function*() {
      const { close, ends, enter } = yield* closing
      enter("a")
      enter("b")()
      enter("c")
      yield* close
      yield* TestClock.adjust("1 hour")
      expect(ends).toEqual(["aAborted", "cAborted"])
    }))

  it.live("comes to an end with its scope where it was made in a place that can't be interrupted", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Effect.uninterruptible(Scope.extend(Deadline.make(1_000), scope))
      const closing = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
      expect(yield* Effect.timeoutOption(Effect.disconnect(Fiber.join(closing)), "1 second")).toMatchObject({
        _tag: "Some"
      })
    }))

  it.effect("cuts off at once whoever comes after its scope has ended", () =>
    Effect.gen(function*() {
      const { close, ends, enter } = yield* closing
      yield* close
      enter("a")
      expect(ends).toEqual(["aAborted"])
    }))

  it.effect("cuts off the others when its scope ends though one of them throws", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const enter = yield* Scope.extend(entrance(1_000), scope)
      const ends: Array<string> = []
      enter(() => {
        throw new Error("a client's own")
      })
      enter((why) => ends.push(why))
      yield* Scope.close(scope, Exit.void)
      expect(ends).toEqual(["Aborted"])
    }))

  it.scoped("keeps its own clock, whatever that of who enters is", () =>
    Effect.gen(function*() {
      const { enter, fired } = yield* deadline
      yield* Effect.withClock(Effect.sync(() => enter("a")), ManualClock.make())
      yield* TestClock.adjust("999 millis")
      expect(fired).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(fired).toEqual(["a"])
    }))

  it.scoped.each([-86_400_000, 86_400_000])(
    "does not care for a wall clock that is set by %d ms",
    (millis) =>
      Effect.gen(function*() {
        const base = yield* Effect.clock
        const clock: ManualClock.ManualClock = ManualClock.besides(base)
        const { enter, fired } = yield* Effect.withClock(deadline, clock)
        enter("a")
        yield* TestClock.adjust("500 millis")
        clock.wall += millis
        enter("b")
        yield* TestClock.adjust("499 millis")
        expect(fired).toEqual([])
        yield* TestClock.adjust("1 millis")
        expect(fired).toEqual(["a"])
        yield* TestClock.adjust("500 millis")
        expect(fired).toEqual(["a", "b"])
      })
  )

  it.scopedLive("does not care for a machine whose wall clock is set back to the beginning", () =>
    Effect.gen(function*() {
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
      const enter = yield* entrance(100)
      let firedAfter = Number.NaN
      const start = performance.now()
      enter(() => firedAfter = performance.now() - start)
      vi.useFakeTimers({ toFake: ["Date"], now: 0 })
      yield* Effect.sleep("400 millis")
      expect(firedAfter).toBeGreaterThanOrEqual(99)
      expect(firedAfter).toBeLessThan(400)
    }))
})

type Step =
  | { readonly name: "enter" }
  | { readonly name: "leave"; readonly whom: number }
  | { readonly name: "pass"; readonly millis: number }
  | { readonly name: "jump"; readonly millis: number }

const steps: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.array(
  FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.constant<Step>({ name: "enter" }) },
    { weight: 3, arbitrary: FastCheck.nat(30).map((whom): Step => ({ name: "leave", whom })) },
    { weight: 3, arbitrary: FastCheck.nat(1_500).map((millis): Step => ({ name: "pass", millis })) },
    { weight: 1, arbitrary: FastCheck.integer().map((millis): Step => ({ name: "jump", millis })) }
  ),
  { maxLength: 60 }
)

interface Fired {
  readonly who: number
  readonly at: number
}

/** A sorted list, looked through at every millisecond that matters. */
const modeled = (steps: ReadonlyArray<Step>): ReadonlyArray<Fired> => {
  const fired: Array<Fired> = []
  let now = 0
  let count = 0
  let waiting: Array<Fired> = []
  for (const step of steps) {
    if (step.name === "enter") waiting.push({ who: count++, at: now + 1_000 })
    if (step.name === "leave") waiting = waiting.filter(({ who }) => who !== step.whom)
    if (step.name === "pass") {
      now += step.millis
      fired.push(...waiting.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at || a.who - b.who))
      waiting = waiting.filter(({ at }) => at > now)
    }
  }
  return fired
}

const played = (steps: ReadonlyArray<Step>): ReadonlyArray<Fired> => {
  const time = new VirtualTime()
  const scheduler = new ShakenScheduler(2_048)
  const fired: Array<Fired> = []
  const leaves: Array<() => void> = []
  let enter: ((cutOff: CutOff) => () => void) | undefined
  const fiber = Effect.runFork(
    entrance(1_000).pipe(
      Effect.flatMap((made) => {
        enter = made
        return Effect.never
      }),
      Effect.scoped,
      Effect.withClock(time)
    ),
    { scheduler }
  )
  scheduler.settle()
  for (const step of steps) {
    if (step.name === "enter") {
      const who = leaves.length
      leaves.push(
        enter?.((why) => why === "Timeout" && fired.push({ who, at: time.monotonicMillis })) ??
          expect.unreachable("there is none")
      )
    }
    if (step.name === "leave") leaves[step.whom]?.()
    if (step.name === "jump") time.jump(step.millis)
    if (step.name === "pass") time.pass(step.millis, scheduler.settle)
    expect(time.pendingTimers).toBeLessThanOrEqual(1)
  }
  Effect.runFork(Fiber.interrupt(fiber), { scheduler })
  scheduler.settle()
  expect(time.pendingTimers).toBe(0)
  return fired
}

describe("A deadline beside a plain sorted list", () => {
  it.prop("is met by the same, in the same order, at the same time", [steps], ([steps]) => {
    expect(played(steps)).toEqual(modeled(steps))
  }, { fastCheck: { numRuns: 2_000 } })
})
