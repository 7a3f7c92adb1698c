import { expect, it } from "@effect/vitest"
import * as Pace from "../../src/internal/wrappers/throttle/pace.js"

/** Requests are 100 ms apart, and the second one is sent so many milliseconds late. */
const waitAfter = (lateness: number) => {
  const rate = { limit: 10, interval: 1_000 }
  const pace = Pace.count(rate, Pace.startAt(0), 100 + lateness, true)
  return Pace.waitTime(rate, pace, 100 + lateness)
}

it.each([0, 1, 99])("Throttle pace: a request that is %i ms late doesn't delay the next one", (lateness) => {
  expect(waitAfter(lateness)).toBe(100 - lateness)
})

it.each([100, 250])(
  "Throttle pace: if a request is %i ms late, the next one keeps the whole distance from it",
  (lateness) => {
    expect(waitAfter(lateness)).toBe(100)
  }
)
