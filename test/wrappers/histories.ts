/** Histories of callers that search and leave while time passes, for models of the layers that wrap the client. */
import { FastCheck, type Fiber } from "effect"
import { type AdvisorWorld, outcomeOf } from "../support/model/AdvisorWorld.js"

type Between =
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }

/** A caller that begins a search. `leavesAfter` is the number of turns of the scheduler after which it leaves, if it does. */
interface Begin {
  readonly _tag: "Search"
  readonly leavesAfter: number | undefined
}

export interface History<Search extends Begin> {
  readonly steps: ReadonlyArray<Search | Between>
  readonly seed: string
}

/** Most callers stay. */
export const leavesAfter = FastCheck.option(FastCheck.nat(30), { nil: undefined, freq: 6 })

export const histories = <Search extends Begin>(
  search: FastCheck.Arbitrary<Search>,
  pauses: ReadonlyArray<number>
): FastCheck.Arbitrary<History<Search>> => {
  const leave = FastCheck.nat(9).map((nth): Between => ({ _tag: "Leave", nth }))
  const pass = FastCheck.constantFrom(...pauses).map((millis): Between => ({ _tag: "Pass", millis }))
  const step = FastCheck.oneof(
    { arbitrary: search, weight: 5 },
    { arbitrary: leave, weight: 2 },
    { arbitrary: pass, weight: 4 }
  )
  return FastCheck.record({
    steps: FastCheck.array(step, { minLength: 40, maxLength: 40, size: "max" }),
    seed: FastCheck.string()
  })
}

/**
 * Plays a history until all time has passed, and closes the world. Adds to the violations if a caller gets no outcome, if a caller is
 * interrupted that did not leave, and if a fiber or timer is left over.
 */
export const play = <Search extends Begin>(
  world: AdvisorWorld,
  violations: Array<string>,
  steps: History<Search>["steps"],
  begin: (search: Search) => Fiber.RuntimeFiber<unknown, unknown>,
  afterStep = () => {}
) => {
  const callers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
  const left = new Set<Fiber.RuntimeFiber<unknown, unknown>>()

  const leave = (caller: Fiber.RuntimeFiber<unknown, unknown>) => {
    left.add(caller)
    world.interrupt(caller)
  }

  for (const step of steps) {
    if (step._tag === "Pass") {
      world.pass(step.millis)
    } else if (step._tag === "Search") {
      const caller = begin(step)
      callers.push(caller)
      if (step.leavesAfter !== undefined) leave(caller)
    } else {
      const waiting = callers.filter((caller) => outcomeOf(caller) === "waits")
      const leaving = waiting[step.nth % waiting.length]
      if (leaving !== undefined) leave(leaving)
    }
    afterStep()
  }
  world.pass(1_000_000)
  for (const caller of callers) {
    const outcome = outcomeOf(caller)
    const isWrong = outcome === "waits" || outcome === "interrupted" && !left.has(caller)
    if (isWrong) violations.push(`the outcome of a caller: ${outcome}`)
  }
  if (world.fibers > 0 || world.time.pendingTimers > 0) violations.push("a fiber or timer left over while open")
  world.close()
  if (world.fibers > 0 || world.time.pendingTimers > 0) violations.push("a fiber or timer left over")
}
