/** Histories of callers that search and leave while time passes, for models of the layers that wrap the client. */
import { FastCheck, type Fiber } from "effect"
import type { AdvisorWorld } from "../support/model/AdvisorWorld.js"

type Between =
  | { readonly _tag: "Leave"; readonly nth: number }
  | { readonly _tag: "Pass"; readonly millis: number }

/** A caller that begins a search. `leaves` says after how many turns of the scheduler it leaves. */
interface Begin {
  readonly _tag: "Search"
  readonly leaves: number | undefined
}

export interface History<Search extends Begin> {
  readonly steps: ReadonlyArray<Search | Between>
  readonly seed: string
}

/** Most callers stay. */
export const leaves = FastCheck.option(FastCheck.nat(30), { nil: undefined, freq: 6 })

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

/** Plays a history, and returns the fibers of its callers and the number of callers that have left. */
export const play = <Search extends Begin>(
  world: AdvisorWorld,
  steps: History<Search>["steps"],
  begin: (search: Search) => Fiber.RuntimeFiber<unknown, unknown>,
  afterStep = () => {}
) => {
  const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
  let left = 0

  const leave = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => {
    left += 1
    world.interrupt(fiber)
  }

  for (const step of steps) {
    if (step._tag === "Pass") {
      world.pass(step.millis)
    } else if (step._tag === "Search") {
      const fiber = begin(step)
      fibers.push(fiber)
      if (step.leaves !== undefined) leave(fiber)
    } else {
      const waiting = fibers.filter((fiber) => fiber.unsafePoll() === null)
      const leaving = waiting[step.nth % waiting.length]
      if (leaving !== undefined) leave(leaving)
    }
    afterStep()
  }
  return { fibers, left }
}
