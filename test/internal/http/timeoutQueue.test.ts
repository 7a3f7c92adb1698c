import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Fiber, Layer, Scope } from "effect"
import { vi } from "vitest"
import * as Fork from "../../../src/internal/fork.js"
import * as TimeoutQueue from "../../../src/internal/http/timeoutQueue.js"
import { arranged, test, testLive } from "../../doubles/arranged.js"
import * as ManualClock from "../../doubles/ManualClock.js"
import * as Time from "../../doubles/Time.js"
import { ShakenScheduler } from "../../model/ShakenScheduler.js"
import { VirtualTime } from "../../model/VirtualTime.js"

type Abort = TimeoutQueue.TimedRequest["abort"]

class Awaited extends TimeoutQueue.TimedRequest {
  constructor(readonly abort: Abort) {
    super()
  }
}

/** Enters one who calls the function once it is cut off, and gives another by which it leaves. */
const entrance = (millis: number) =>
  Effect.map(TimeoutQueue.make(millis), ({ add, remove }) => (abort: Abort) => {
    const awaited = new Awaited(abort)
    add(awaited)
    return () => remove(awaited)
  })

/** A timeout of a second, and the names of those that timed out, in their order. */
const timeout = Effect.map(entrance(1_000), (add) => {
  const fired: Array<string> = []
  return { fired, add: (name: string) => add(() => fired.push(name)) }
})

const timed = arranged(timeout, Layer.empty)

describe("A timeout", () => {
  timed("is met by each at its own time, in the order in which they came", function*({ add, fired }) {
    for (const name of ["a", "b", "c"]) {
      add(name)
      yield* Time.pass("100 millis")
    }
    yield* Time.pass("700 millis")
    expect(fired).toEqual(["a"])
    yield* Time.pass("99 millis")
    expect(fired).toEqual(["a"])
    yield* Time.pass("1 millis")
    expect(fired).toEqual(["a", "b"])
    yield* Time.pass("100 millis")
    expect(fired).toEqual(["a", "b", "c"])
  })

  timed.each([[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0], [0, 2, 1], [0], [1], [2], [0, 1], [0, 2], [1, 2]])(
    "is not met by those who left (case %#)",
    function*(order, { add, fired }) {
      const leaves = ["a", "b", "c"].map(add)
      for (const index of order) leaves[index]?.()
      yield* Time.pass("1 second")
      expect(fired).toEqual(["a", "b", "c"].filter((_, index) => !order.includes(index)))
    }
  )

  test("may be entered again by whoever meets it", function*() {
    const add = yield* entrance(1_000)
    let times = 0
    const again = () => {
      times += 1
      add(again)
    }
    add(again)
    yield* Time.pass("3500 millis")
    expect(times).toBe(3)
  })

  test("may be left by another who meets it first", function*() {
    const add = yield* entrance(1_000)
    const fired: Array<string> = []
    let remove = () => {}
    add(() => {
      fired.push("a")
      remove()
    })
    remove = add(() => fired.push("b"))
    add(() => fired.push("c"))
    yield* Time.pass("1 second")
    expect(fired).toEqual(["a", "c"])
  })

  test("is met by the others though one of them throws", function*() {
    const add = yield* entrance(1_000)
    let times = 0
    add(() => {
      throw new Error("a client's own")
    })
    add(() => times += 1)
    yield* Time.pass("1 second")
    add(() => times += 1)
    yield* Time.pass("1 second")
    expect(times).toBe(2)
  })

  timed("costs no timer where nobody came", function*() {
    yield* Time.pass("1 millis")
    expect(yield* Time.wakes).toEqual([])
  })

  timed("costs no timer once its time is over for all", function*({ add }) {
    add("a")()
    add("b")
    yield* Time.pass("2 seconds")
    expect(yield* Time.wakes).toEqual([])
  })

  const closing = Effect.gen(function*() {
    const scope = yield* Scope.make()
    const add = yield* Scope.extend(entrance(1_000), scope)
    const ends: Array<string> = []
    return {
      close: Scope.close(scope, Exit.void),
      ends,
      add: (name: string) => add((why) => ends.push(name + why))
    }
  })

  test("cuts off all who are there when its scope ends, each once", function*() {
    const { close, ends, add } = yield* closing
    add("a")
    add("b")()
    add("c")
    yield* close
    yield* Time.pass("1 hour")
    expect(ends).toEqual(["aAborted", "cAborted"])
  })

  testLive("comes to an end with its scope where it was made in a place that can't be interrupted", function*() {
    const scope = yield* Scope.make()
    yield* Effect.uninterruptible(Scope.extend(TimeoutQueue.make(1_000), scope))
    const closing = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
    expect(yield* Effect.timeoutOption(Fork.abandonable(Fiber.join(closing)), "20 seconds")).toMatchObject({
      _tag: "Some"
    })
  })

  test("cuts off at once whoever comes after its scope has ended", function*() {
    const { close, ends, add } = yield* closing
    yield* close
    add("a")
    expect(ends).toEqual(["aAborted"])
  })

  test("cuts off the others when its scope ends though one of them throws", function*() {
    const scope = yield* Scope.make()
    const add = yield* Scope.extend(entrance(1_000), scope)
    const ends: Array<string> = []
    add(() => {
      throw new Error("a client's own")
    })
    add((why) => ends.push(why))
    yield* Scope.close(scope, Exit.void)
    expect(ends).toEqual(["Aborted"])
  })

  timed("keeps its own clock, whatever that of who enters is", function*({ add, fired }) {
    yield* Effect.withClock(Effect.sync(() => add("a")), ManualClock.make())
    yield* Time.pass("999 millis")
    expect(fired).toEqual([])
    yield* Time.pass("1 millis")
    expect(fired).toEqual(["a"])
  })

  testLive("does not care for a machine whose wall clock is set back to the beginning", function*() {
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
    const add = yield* entrance(100)
    const start = performance.now()
    vi.useFakeTimers({ toFake: ["Date"] })
    const firedAfter = yield* Effect.async<number>((resume) => {
      add(() => resume(Effect.sync(() => performance.now() - start)))
      vi.setSystemTime(0)
    })
    expect(firedAfter).toBeGreaterThanOrEqual(99)
  })
})

type Step =
  | { readonly name: "add" }
  | { readonly name: "remove"; readonly whom: number }
  | { readonly name: "pass"; readonly millis: number }
  | { readonly name: "jump"; readonly millis: number }

const steps: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.array(
  FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.constant<Step>({ name: "add" }) },
    { weight: 3, arbitrary: FastCheck.nat(12).map((whom): Step => ({ name: "remove", whom })) },
    { weight: 3, arbitrary: FastCheck.nat(1_500).map((millis): Step => ({ name: "pass", millis })) },
    { weight: 1, arbitrary: FastCheck.constant<Step>({ name: "pass", millis: 1 }) },
    { weight: 1, arbitrary: FastCheck.integer().map((millis): Step => ({ name: "jump", millis })) }
  ),
  { maxLength: 60, size: "max" }
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
    if (step.name === "add") waiting.push({ who: count++, at: now + 1_000 })
    if (step.name === "remove") waiting = waiting.filter(({ who }) => who !== step.whom)
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
  let add: ((abort: Abort) => () => void) | undefined
  const fiber = Effect.runFork(
    entrance(1_000).pipe(
      Effect.flatMap((made) => {
        add = made
        return Effect.never
      }),
      Effect.scoped,
      Effect.withClock(time.clock)
    ),
    { scheduler }
  )
  scheduler.settle()
  for (const step of steps) {
    if (step.name === "add") {
      const who = leaves.length
      leaves.push(
        add?.((why) => why === "Timeout" && fired.push({ who, at: time.monotonicMillis })) ??
          expect.unreachable("there is none")
      )
    }
    if (step.name === "remove") leaves[step.whom]?.()
    if (step.name === "jump") time.jump(step.millis)
    if (step.name === "pass") time.pass(step.millis, scheduler.settle)
    expect(time.pendingTimers).toBeLessThanOrEqual(1)
  }
  Effect.runFork(Fiber.interrupt(fiber), { scheduler })
  scheduler.settle()
  expect(time.pendingTimers).toBe(0)
  return fired
}

describe("A timeout beside a plain sorted list", () => {
  it.prop("is met by the same, in the same order, at the same time", [steps], ([steps]) => {
    expect(played(steps)).toEqual(modeled(steps))
  }, { fastCheck: { numRuns: 1_000 } })
})
