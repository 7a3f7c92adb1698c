import { describe, expect, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Either, Random, Schedule, TestClock } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"
import { policyOf } from "../support/doubles/policy.js"

const rejected = (policy: object) => Either.flip(RefreshPolicy.make(policy))

describe("RefreshPolicy.make", () => {
  it("missing fields get their defaults, in milliseconds", () => {
    expect(policyOf()).toEqual({
      background: true,
      window: 300_000,
      margin: 10_000,
      attempts: 3,
      backoffStart: 1_000,
      backoffCap: 60_000,
      coolDown: 15_000
    })
  })

  it.each<readonly [string, object, string]>([
    ...["window", "margin", "backoffStart", "backoffCap", "coolDown"].map((field) =>
      [`a ${field} that is not a duration`, { [field]: "soon" }, field] as const
    ),
    ["a number of attempts with a fraction", { attempts: 1.5 }, "attempts"],
    ["a margin that is not shorter than the window", { window: "1 second", margin: "1 second" }, "margin"],
    ["a backoffCap below backoffStart", { backoffStart: "2 minutes" }, "backoffCap"],
    ["a backoffCap longer than an hour", { backoffCap: "61 minutes" }, "backoffCap"]
  ])("%s is rejected", (_, policy, field) => {
    expect(rejected(policy)).toMatchObject(Either.right({ field: `refresh.${field}` }))
  })

  it("an undefined field counts as missing", () => {
    const none = JSON.parse("{}")
    expect(policyOf({ coolDown: none.coolDown, attempts: none.attempts, background: none.background })).toEqual(
      policyOf()
    )
  })

  it.each(["windowFraction", "schedule", "Window", "constructor"])("an unknown field is rejected: %s", (field) => {
    expect(rejected({ [field]: 1 }))
      .toMatchObject(Either.right({ field: `refresh.${field}`, rule: "is not an option: check its spelling" }))
  })
})

describe("RefreshPolicy: token lifetime", () => {
  it.each([
    { life: 200, window: 20, margin: 2, pause: 1_250 },
    { life: 20_000, window: 2_000, margin: 200, pause: 1_250 },
    { life: 60_000, window: 6_000, margin: 600, pause: 1_500 },
    { life: 900_000, window: 90_000, margin: 9_000, pause: 22_500 },
    { life: 86_155_482, window: 300_000, margin: 10_000, pause: 60_000 }
  ])(
    "for a lifetime of $life ms, the window is $window ms, the margin is $margin ms and the pause between checks is $pause ms",
    (row) => {
      const life = { receivedAt: 1_000, expiresAt: 1_000 + row.life }
      expect([
        RefreshPolicy.windowOf(policyOf(), life),
        RefreshPolicy.marginOf(policyOf(), life),
        RefreshPolicy.pauseOf(policyOf(), life)
      ]).toEqual([row.window, row.margin, row.pause])
    }
  )
})

describe("RefreshPolicy.checks", () => {
  const waitAfter = (pause: number, random: number, now: number) =>
    TestClock.setTime(now).pipe(
      Effect.zipRight(Schedule.run(Schedule.delays(RefreshPolicy.checks), now, [pause])),
      Effect.map(Chunk.map(Duration.toMillis)),
      Effect.map(([wait = Number.NaN]) => Math.round(wait)),
      Effect.withRandom(Random.fixed([random]))
    )

  it.effect("the pause between checks varies by up to 20% and is 1 to 72 seconds", () =>
    Effect.gen(function*() {
      const ends = [[1_250, 0], [60_000, 0], [1_250, 1], [60_000, 1]] as const
      const waits = yield* Effect.forEach(ends, ([pause, random]) => waitAfter(pause, random, 0))
      expect(waits).toEqual([1_000, 48_000, 1_500, 72_000])
    }))

  it.effect("with long-lived tokens, each check is at a whole second of the clock", () =>
    Effect.gen(function*() {
      const now = 12_345
      const waits = yield* Effect.forEach([0, 0.3, 1], (random) => waitAfter(60_000, random, now))
      expect(waits.map((wait) => now + wait)).toEqual([60_000, 67_000, 84_000])
    }))
})

describe("RefreshPolicy.betweenAttempts", () => {
  it.effect("each wait is twice the last one, with 20% jitter", () =>
    Effect.gen(function*() {
      const delays = Schedule.delays(RefreshPolicy.betweenAttempts(policyOf({ attempts: 4 }), () => 0))
      const waits = yield* Schedule.run(delays, 0, ["a", "b", "c"])
      expect(Array.from(waits, Duration.toMillis)).toEqual([160, 320, 640])
    }).pipe(Effect.withRandom(Random.fixed([0]))))
})

describe("RefreshPolicy.backoffAfter", () => {
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
    "the backoff is $millis ms (failures: $failures, Retry-After in ms: $retryAfter)",
    ({ failures, millis, random, retryAfter }) => {
      expect(RefreshPolicy.backoffAfter(policyOf(), failures, random, retryAfter)).toBe(millis)
    }
  )
})
