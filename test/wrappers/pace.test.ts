import { expect, it } from "@effect/vitest"
import * as Pace from "../../src/internal/wrappers/throttle/pace.js"

/** The wait after a request that is sent so many milliseconds late. Requests are 100 ms apart, unless a distance is given. */
const waitAfter = (lateness: number, distance = 100) => {
  const rate = { limit: 1, interval: distance }
  const pace = Pace.count(rate, Pace.startAt(0), distance + lateness, true)
  return Pace.waitTime(rate, pace, distance + lateness)
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

it.each([[1.9, 0], [2, 1]])(
  "Throttle pace: with 1 ms between requests, a request that is %s ms late delays the next one by %i ms",
  (lateness, wait) => {
    expect(waitAfter(lateness, 1)).toBe(wait)
  }
)
