import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Clock, Duration, Effect, Either, FastCheck as fc, identity, type Schedule } from "effect"
import { RefreshPolicy } from "effect-nutrition-advisor"
import * as ScheduleDriver from "../src/internal/token/scheduleDriver.js"
import { test } from "./doubles/arranged.js"
import { policyOf } from "./doubles/policy.js"
import { seeded } from "./doubles/runtime.js"
import * as Time from "./doubles/Time.js"

const policy = policyOf()

const ofLife = (life: number): RefreshPolicy.Lifetime => ({ receivedAt: 0, expiresAt: life })

describe("defaults", () => {
  it("are the numbers of the design, and pass their own checks", () => {
    expect(policy).toEqual({
      background: true,
      schedule: undefined,
      window: 300_000,
      windowFraction: 0.1,
      margin: 10_000,
      attempts: 3,
      backoffStart: 1_000,
      backoffCap: 60_000,
      coolDownStart: 5_000,
      coolDownCap: 60_000
    })
    expect(RefreshPolicy.make(RefreshPolicy.defaults)).toEqual(Either.right(policy))
  })
})

const brokenRule = (policy: Partial<RefreshPolicy.RefreshPolicy>) =>
  Either.match(RefreshPolicy.make(policy), { onLeft: ({ field, rule }) => [field, rule], onRight: () => "none" })

const broken = (field: string, rule: string) => [`refresh.${field}`, `\`${field}\` ${rule}`]

const durations = ["window", "margin", "backoffStart", "backoffCap", "coolDownStart", "coolDownCap"] as const

const badDurations = [0, -1, NaN, Infinity, Duration.infinity, [-1, 2e9], [NaN, 0]]

describe("make", () => {
  it.each(durations.flatMap((field) => badDurations.map((value) => ({ field, value }))))(
    "refuses $value as $field",
    ({ field, value }) => {
      expect(brokenRule({ [field]: value })).toEqual(broken(field, "must be above zero, and finite"))
    }
  )

  it.each(durations)("refuses a %s that is no duration at all", (field) => {
    const fromOutside: Partial<RefreshPolicy.RefreshPolicy> = JSON.parse(`{"${field}":"soon"}`)
    expect(brokenRule(fromOutside)).toEqual(broken(field, "is no duration"))
  })

  it.each([0, 0.01, -0.1, 1, 1.1, NaN, Infinity])("refuses %s as windowFraction", (windowFraction) => {
    expect(brokenRule({ windowFraction })).toEqual(broken("windowFraction", "must be between 0.01 and 1"))
  })

  it.each([0, -1, 1.5, NaN, Infinity])("refuses %s as attempts", (attempts) => {
    expect(brokenRule({ attempts })).toEqual(broken("attempts", "must be a whole number above 0"))
  })

  it.each<[string, Partial<RefreshPolicy.RefreshPolicy>, ReadonlyArray<string>]>([
    [
      "a margin as long as the window",
      { window: "10 seconds", margin: "10 seconds" },
      broken("margin", "must be shorter than `window`")
    ],
    ["a window of a year", { window: "365 days" }, broken("window", "must be shorter than 365 days")],
    [
      "a backoff cap under the backoff's start",
      { backoffCap: 999 },
      broken("backoffCap", "must not be shorter than `backoffStart`")
    ],
    ["a backoff cap above an hour", { backoffCap: 3_600_001 }, broken("backoffCap", "must not be longer than an hour")],
    [
      "a cool-down cap under its start",
      { coolDownCap: "4 seconds" },
      broken("coolDownCap", "must not be shorter than `coolDownStart`")
    ]
  ])("refuses %s", (_, policy, rule) => {
    expect(brokenRule(policy)).toEqual(rule)
  })

  it.each(["step", "marginFraction", "Window", "constructor"])("refuses a field that there is not: %s", (field) => {
    const known = Object.keys(RefreshPolicy.defaults).join(", ")
    expect(brokenRule({ [field]: 1 })).toEqual(broken(field, `is no field of a RefreshPolicy: those are ${known}`))
  })

  it("says what is wrong in one sentence", () => {
    expect(Either.getOrThrow(Either.flip(RefreshPolicy.make({ attempts: 1.5 }))).message)
      .toBe("The setting refresh.attempts: `attempts` must be a whole number above 0.")
  })

  it.each<[string, Partial<RefreshPolicy.RefreshPolicy>]>([
    ["a backoff that never grows", { backoffCap: 1_000 }],
    ["a cool-down that never grows", { coolDownCap: "5 seconds" }],
    ["one attempt", { attempts: 1 }],
    ["a backoff cap of an hour", { backoffCap: "1 hour" }],
    ["a margin 1 ms under the window", { window: 10_001 }]
  ])("accepts %s", (_, policy) => {
    expect(brokenRule(policy)).toBe("none")
  })
})

const scaled = [
  { life: 60_000, window: 6_000, margin: 600 },
  { life: 900_000, window: 90_000, margin: 9_000 },
  { life: 3_600_000, window: 300_000, margin: 10_000 },
  { life: 86_155_000, window: 300_000, margin: 10_000 }
]

describe("windowOf and marginOf", () => {
  it.each(scaled)("give $window and $margin ms of a life of $life ms", ({ life, margin, window }) => {
    expect([RefreshPolicy.windowOf(policy, ofLife(life)), RefreshPolicy.marginOf(policy, ofLife(life))])
      .toEqual([window, margin])
  })

  it.prop(
    "keep margin under window under life",
    [fc.integer({ min: 20, max: RefreshPolicy.longestLife })],
    ([life]) => {
      const margin = RefreshPolicy.marginOf(policy, ofLife(life))
      const window = RefreshPolicy.windowOf(policy, ofLife(life))
      expect(0 <= margin && margin < window && window < life).toBe(true)
    }
  )
})

/** What a Schedule says to each of the inputs, until it ends. */
const driven = <In>(schedule: Schedule.Schedule<unknown, In>, inputs: ReadonlyArray<In>) =>
  Effect.gen(function*() {
    const next = ScheduleDriver.make(schedule)
    const now = yield* Clock.currentTimeMillis
    const delays: Array<number> = []
    for (const input of inputs) {
      const delay = yield* next(now, input)
      if (delay === undefined) break
      delays.push(delay)
    }
    return delays
  })

const delaysOf = (tokens: ReadonlyArray<RefreshPolicy.Lifetime>) =>
  driven(RefreshPolicy.beforeExpiry(policy), tokens).pipe(Effect.withRandom(seeded("a seed").service))

describe("beforeExpiry", () => {
  test.each(scaled)("spreads 1000 moments over the first half of the window of $life ms", function*({ life, window }) {
    const delays = yield* delaysOf(Arr.makeBy(1_000, () => ofLife(life)))
    const tenths = Arr.groupBy(delays, (delay) => String(Math.floor((delay - life + window) / (window / 20))))
    expect(Object.keys(tenths).sort()).toEqual(Arr.makeBy(10, String))
    expect(Object.values(tenths).filter(({ length }) => length <= 50)).toEqual([])
  })

  test.each<readonly [string, number]>([
    ["at the very start of its window", 3_300_000],
    ["after it has expired", 4_000_000]
  ])("is due at once for a token %s", function*([, now]) {
    yield* Time.set(now)
    expect(yield* delaysOf([ofLife(3_600_000)])).toEqual([0])
  })

  test("counts from the clock, so that an old token is due when its window begins", function*() {
    yield* Time.set(3_000_000)
    const [delay] = yield* delaysOf([ofLife(3_600_000)])
    expect(delay).toBeGreaterThanOrEqual(300_000)
    expect(delay).toBeLessThanOrEqual(450_000)
  })
})

describe("betweenAttempts", () => {
  const delays = (attempts: number, atLeast = 0) =>
    driven(RefreshPolicy.betweenAttempts(policyOf({ attempts }), identity<number>), Arr.replicate(atLeast, 50))

  test("allows two further attempts by default", function*() {
    expect(yield* delays(3)).toHaveLength(2)
  })

  test("doubles the wait, give or take a fifth", function*() {
    const [first = 0, second = 0] = yield* delays(3)
    expect(Math.abs(first - 200)).toBeLessThanOrEqual(40)
    expect(Math.abs(second - 400)).toBeLessThanOrEqual(80)
  })

  test("allows none where one attempt is all", function*() {
    expect(yield* delays(1)).toEqual([])
  })

  test("waits as long as the error asks for, where that is longer", function*() {
    const [first = 0, second = 0] = yield* delays(3, 300)
    expect(first).toBe(300)
    expect(Math.abs(second - 400)).toBeLessThanOrEqual(80)
  })
})

describe("backoffAfter", () => {
  const backoff = (failures: number, random = 0, retryAfter?: number) =>
    RefreshPolicy.backoffAfter(policy, failures, random, retryAfter)

  it("doubles from 1 s to 60 s", () => {
    expect(Arr.makeBy(9, (index) => backoff(index + 1)))
      .toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  })

  it.each([
    ["is a fifth shorter at most", 3, 1, undefined, 3_200],
    ["is raised by a longer Retry-After", 1, 0, 30, 30_000],
    ["is a tenth longer than a Retry-After at most", 1, 1, 30, 33_000],
    ["is not lowered by a shorter Retry-After", 7, 0, 2, 60_000],
    ["is raised to an hour at most", 1, 0, 3_601, 3_600_000],
    ["is an hour at most with what is added to a Retry-After, too", 1, 1, 3_600, 3_600_000],
    ["is raised to an hour at most by a Retry-After without an end", 1, 1, Infinity, 3_600_000],
    ["stays at the cap after a hundred failures", 100, 0, undefined, 60_000],
    ["stays at the cap after more failures than can be counted", Number.MAX_SAFE_INTEGER, 0, undefined, 60_000]
  ])("%s", (_, failures, random, retryAfter, millis) => {
    expect(backoff(failures, random, retryAfter)).toBe(millis)
  })
})

describe("coolDownAfter", () => {
  it("is 5, 10, 20, 40 and then 60 s", () => {
    expect(Arr.makeBy(6, (index) => RefreshPolicy.coolDownAfter(policy, index + 1)))
      .toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })
})

describe("docs/token-life.md", () => {
  const document = readFileSync(new URL("../docs/token-life.md", import.meta.url), "utf8").replaceAll(/\s+/g, " ")

  /** Without renewals that start none. */
  const coolDowns = Arr.makeBy(8, (index) => RefreshPolicy.coolDownAfter(policy, index + 1) / 1_000)
    .filter((seconds) => seconds > 0).slice(0, 5)

  /** The sums of all that went before. */
  const moments = coolDowns.map((_, index) => coolDowns.slice(0, index).reduce((sum, next) => sum + next, 0))

  const [first, ...further] = coolDowns

  const backoffs = Arr.makeBy(3, (index) => RefreshPolicy.backoffAfter(policy, index + 1, 0, undefined) / 1_000)

  it.each([
    ["the cool-downs", `${first} seconds, then ${further.slice(0, -1).join(", ")}, and ${further.at(-1)} from then on`],
    ["when renewals follow each other", `at about ${moments.slice(0, 3).join(", ")} and ${moments[3]} seconds`],
    [
      "the backoffs",
      `For ${backoffs[0]} second no other exchange starts; after the next failure for ${backoffs[1]}, then ${
        backoffs[2]
      }`
    ]
  ])("says %s as the function computes them", (_, sentence) => {
    expect(document).toContain(sentence)
  })
})
