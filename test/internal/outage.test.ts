import { describe, expect, it } from "@effect/vitest"
import { momentOf } from "../../src/internal/clock.js"
import * as Outage from "../../src/internal/outage.js"
import * as ManualClock from "../doubles/ManualClock.js"

/** What comes of each step: whether a failure is warned of, and how long the failures lasted that a success ends. */
const told = (steps: ReadonlyArray<readonly [second: number, kind: string | "works"]>) => {
  const clock = ManualClock.make()
  const begun = clock.wall
  let state = Outage.initial
  return steps.map(([second, kind]) => {
    ManualClock.pass(clock, begun + second * 1_000 - clock.wall)
    const now = momentOf(clock)
    const [told, next] = kind === "works" ? Outage.worked(state, now) : Outage.failed(state, kind, now)
    state = next
    return told
  })
}

describe("Outage", () => {
  it.each(
    [
      ["warns of the first failure", [[0, "a"]], [true]],
      ["warns of a kind once in a minute", [[0, "a"], [1, "a"], [59.999, "a"]], [true, false, false]],
      ["warns again when the minute is over", [[0, "a"], [60, "a"], [119, "a"], [120, "a"]], [true, true, false, true]],
      ["warns of another kind at once", [[0, "a"], [1, "b"], [2, "b"]], [true, true, false]],
      ["warns of each change, also back to a kind of before", [[0, "a"], [1, "b"], [2, "a"]], [true, true, true]],
      ["starts the minute anew with a change", [[0, "a"], [30, "b"], [60, "b"], [90, "b"]], [true, true, false, true]],
      ["says nothing of a success that no failure came before", [[0, "works"], [1, "works"]], [undefined, undefined]],
      ["says how long the failures lasted", [[0, "a"], [20, "b"], [90, "works"]], [true, true, 90_000]],
      ["says it once", [[0, "a"], [1, "works"], [2, "works"]], [true, 1_000, undefined]],
      ["goes on with the minute after a success", [[0, "a"], [1, "works"], [2, "a"]], [true, 1_000, false]],
      [
        "says nothing of the end of failures that it did not warn of",
        [[0, "a"], [1, "works"], [2, "a"], [3, "works"]],
        [true, 1_000, false, undefined]
      ],
      [
        "counts from the first failure, also where only a later one was warned of",
        [[0, "a"], [1, "works"], [50, "a"], [60, "a"], [70, "works"]],
        [true, 1_000, false, true, 20_000]
      ]
    ] as const
  )("%s", (_, steps, expected) => {
    expect(told(steps)).toEqual(expected)
  })

  it("never says that failures lasted less than no time, where the wall clock was set back", () => {
    const clock = ManualClock.make()
    const [, state] = Outage.failed(Outage.initial, "a", momentOf(clock))
    clock.wall -= 5_000
    expect(Outage.worked(state, momentOf(clock))[0]).toBe(0)
  })
})
