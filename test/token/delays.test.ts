import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Either, Random, Schedule } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"
import { backoffAfter, betweenAttempts, pauseOf, untilNextCheck } from "../../src/internal/token/delays.js"
import { test } from "../support/doubles/arranged.js"
import { token, unavailable } from "../support/doubles/IssuerDouble.js"

const policy = Either.getOrThrow(RefreshPolicy.make())

describe("background refresh: checks", () => {
  it.each([
    { life: 200, pause: 1_250 },
    { life: 20_000, pause: 1_250 },
    { life: 60_000, pause: 1_500 },
    { life: 900_000, pause: 22_500 },
    { life: 86_155_482, pause: 60_000 },
    { life: 90 * 86_400_000, pause: 60_000 }
  ])("for a lifetime of $life ms, the pause between checks is $pause ms", ({ life, pause }) => {
    expect(pauseOf(token(1, 1_000, life), policy)).toBe(pause)
  })

  test("the pause between checks varies by up to 20%", function*() {
    const ends = [[1_250, 0], [60_000, 0], [1_250, 1], [60_000, 1]] as const
    const waits = yield* Effect.forEach(
      ends,
      ([pause, random]) => Effect.withRandom(untilNextCheck(pause), Random.fixed([random]))
    )
    expect(waits.map(Math.round)).toEqual([1_000, 48_000, 1_500, 72_000])
  })
})

test("delays between the attempts of an exchange: each one is twice the last one, with 20% jitter", function*() {
  const delays = Schedule.delays(betweenAttempts(Either.getOrThrow(RefreshPolicy.make({ attempts: 4 }))))
  const waits = yield* Effect.withRandom(Schedule.run(delays, 0, Array(3).fill(unavailable)), Random.fixed([0]))
  expect(Array.from(waits, Duration.toMillis)).toEqual([160, 320, 640])
})

it.each([
  { failures: 1, random: 0, millis: 1_000 },
  { failures: 1, random: 1, millis: 800 },
  { failures: 4, random: 0, millis: 8_000 },
  { failures: 7, random: 0, millis: 60_000 },
  { failures: 10_000, random: 0, millis: 60_000 },
  { failures: 1, random: 0, retryAfter: 30_000, millis: 30_000 },
  { failures: 1, random: 1, retryAfter: 30_000, millis: 33_000 },
  { failures: 7, random: 0, retryAfter: 30_000, millis: 60_000 },
  { failures: 1, random: 1, retryAfter: 86_400_000, millis: 3_600_000 }
])(
  "backoff after failed exchanges: it takes $millis ms (failures: $failures, Retry-After in ms: $retryAfter)",
  ({ failures, millis, random, retryAfter }) => {
    expect(backoffAfter(policy, failures, random, retryAfter)).toBe(millis)
  }
)
