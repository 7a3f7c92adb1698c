import { describe, expect, it } from "@effect/vitest"
import { momentOf } from "../../../src/internal/clock.js"
import * as Pause from "../../../src/internal/pause.js"
import * as Renewals from "../../../src/internal/token/renewals.js"
import * as RefreshPolicy from "../../../src/RefreshPolicy.js"
import { fewestUnhelpful } from "../../doubles/coolDown.js"
import { token } from "../../doubles/IssuerDouble.js"
import * as ManualClock from "../../doubles/ManualClock.js"
import { policyOf } from "../../doubles/policy.js"

const timing = policyOf()

const life = 3_600_000

const times = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

type Step = (self: Renewals.Renewals, clock: ManualClock.ManualClock) => Renewals.Renewals

const accepted = (number: number, receivedAt = number): Step => (self) =>
  Renewals.accepted(self, token(number, receivedAt, life))

const rejected = (number: number, count = 1): Step => (self) =>
  times(count, () => token(number, number, life)).reduce(Renewals.rejected, self)

const renewalHelped = (number: number): Step => (self) => Renewals.renewalHelped(self, token(number, number, life))

const newTokenRejected = (number: number): Step => (self, clock) =>
  Renewals.newTokenRejected(self, token(number, number, life), timing, momentOf(clock))

const noNewToken: Step = (self, clock) => Renewals.noNewToken(self, timing, momentOf(clock))

const pass = (millis: number): Step => (self, clock) => {
  ManualClock.pass(clock, millis)
  return self
}

/** A renewal is asked for, and may begin or not. */
const renewing = (may: boolean): Step => (self, clock) => {
  const [mayRenew, next] = Renewals.mayRenew(self, momentOf(clock))
  expect(mayRenew).toBe(may)
  return next
}

/** Whether a renewal may begin after these steps, what is left of the cool-down, and whether one has stood at all. */
const after = (steps: ReadonlyArray<Step>) => {
  const clock = ManualClock.make()
  let self = Renewals.initial
  let hasStood = false
  for (const step of steps) {
    self = step(self, clock)
    hasStood ||= Pause.isRunning(self.coolDown, momentOf(clock))
  }
  return {
    coolDown: Pause.remaining(self.coolDown, momentOf(clock)),
    hasStood,
    mayRenew: Renewals.mayRenew(self, momentOf(clock))[0]
  }
}

/** How long it is after so many renewals in a row that did not help: `test/RefreshPolicy.test.ts` has the numbers. */
const lengthAfter = (unhelpful: number) => RefreshPolicy.coolDownAfter(timing, unhelpful)

const fewest = fewestUnhelpful(timing)

/** Renewals in a row that did not help, each with a token of its own from this number on. */
const unhelpful = (count: number, from = 2) => times(count, (index) => newTokenRejected(from + index))

const coolingDown = unhelpful(fewest)

/** The number of the next token after those of `coolingDown`. */
const next = 2 + fewest

type Row = readonly [title: string, steps: ReadonlyArray<Step>, expected: Partial<ReturnType<typeof after>>]

describe("the cool-down", () => {
  it.each<Row>([
    ["does not stand before", unhelpful(fewest - 1), { hasStood: false, mayRenew: true }],
    ["stands 1 ms before its time", [...coolingDown, pass(lengthAfter(fewest) - 1)], { mayRenew: false }],
    ["is over after its time", [...coolingDown, pass(lengthAfter(fewest))], { mayRenew: true }],
    ["goes on growing after it has been over", [...coolingDown, pass(60_000), newTokenRejected(next)], {
      coolDown: lengthAfter(fewest + 1)
    }],
    [
      "counts a token once, however many replays it failed",
      [...times(3, () => newTokenRejected(2)), ...unhelpful(fewest, 3)],
      { coolDown: lengthAfter(fewest + 1) }
    ],
    [
      "counts each token once, in whatever order their replays failed",
      [...unhelpful(fewest + 1), ...unhelpful(fewest + 1)],
      { coolDown: lengthAfter(fewest + 1) }
    ],
    [
      "is not shortened by a late verdict on an older token whose renewal had helped",
      [renewalHelped(2), ...unhelpful(fewest + 1, 3), newTokenRejected(2)],
      { coolDown: lengthAfter(fewest + 1) }
    ],
    [
      "goes on growing after such a verdict",
      [renewalHelped(2), ...unhelpful(fewest + 1, 3), newTokenRejected(2), newTokenRejected(fewest + 4)],
      { coolDown: lengthAfter(fewest + 2) }
    ],
    [
      "is cleared by a renewal that helped after those that brought no other token",
      [...times(fewest, () => noNewToken), renewalHelped(2)],
      { mayRenew: true }
    ],
    [
      "does not begin anew with another replay of the token that began it",
      [...unhelpful(fewest + 1), pass(3_000), newTokenRejected(next)],
      { coolDown: lengthAfter(fewest + 1) - 3_000 }
    ],
    ["is cleared by a renewal that helped", [...coolingDown, renewalHelped(next)], { mayRenew: true }],
    [
      "is cleared by a renewal that helped, though its token had been accepted before without one",
      [...coolingDown, accepted(next), renewalHelped(next)],
      { mayRenew: true }
    ],
    [
      "begins anew, as short as at first, after a renewal that helped",
      [...unhelpful(fewest + 1), renewalHelped(next + 1), ...unhelpful(fewest, next + 2)],
      { coolDown: lengthAfter(fewest) }
    ],
    ["is not cleared by a search that succeeds without a renewal", [...coolingDown, accepted(2)], {
      mayRenew: false
    }],
    [
      "stays where one replay of the new token was rejected and another one accepted",
      [...unhelpful(fewest + 1), renewalHelped(next)],
      { mayRenew: false, coolDown: lengthAfter(fewest + 1) }
    ],
    [
      "begins where one replay of the new token was accepted and another one rejected",
      [...coolingDown, renewalHelped(next), newTokenRejected(next)],
      { mayRenew: false, coolDown: lengthAfter(fewest + 1) }
    ]
  ])("%s", (_, steps, expected) => {
    expect(after(steps)).toMatchObject({ hasStood: true, ...expected })
  })

  it.each<readonly [string, (number: number) => ReadonlyArray<Step>]>([
    ["with each further renewal that did not help", (number) => [newTokenRejected(number)]],
    ["each time an exchange brings no other token", () => [noNewToken]],
    [
      "with mixed verdicts on one token, the rejection first",
      (number) => [newTokenRejected(number), renewalHelped(number)]
    ],
    [
      "with mixed verdicts on one token, the acceptance first",
      (number) => [renewalHelped(number), newTokenRejected(number)]
    ]
  ])("grows %s", (_, stepsFor) => {
    const counts = [1, 2, 3, 4, 5, 6]
    const grown = counts.map((count) => after(times(count, (index) => stepsFor(index + 2)).flat()).coolDown)
    expect(grown).toEqual(counts.map(lengthAfter))
  })
})

describe("a revocation during the cool-down", () => {
  const revokedTwice = [
    accepted(2),
    rejected(2, 8),
    renewing(true),
    newTokenRejected(next),
    accepted(next),
    rejected(next, 8)
  ]

  it.each<readonly [title: string, steps: ReadonlyArray<Step>, isSeen: boolean]>([
    ["is not seen at the seventh rejection of a token that had been accepted", [accepted(2), rejected(2, 7)], false],
    [
      "is seen at the eighth one, though a renewal was asked for at the seventh",
      [accepted(2), rejected(2, 7), renewing(false), rejected(2)],
      true
    ],
    ["is not seen for a token that was never accepted", [rejected(2, 100)], false],
    ["is not seen when an acceptance came between", [accepted(2), rejected(2, 7), accepted(2), rejected(2, 7)], false],
    ["is seen by the value of the token, whatever object carries it", [accepted(2, 2), rejected(2, 8)], true],
    ["ends it early once, and not again at once", revokedTwice, false],
    ["does not end it early again within 5 s", [...revokedTwice, renewing(false), pass(4_999)], false],
    [
      "may end it early again after 5 s",
      [...revokedTwice, renewing(false), pass(4_999), renewing(false), pass(1)],
      true
    ],
    [
      "counts the rejections of a new token from the start",
      [accepted(2), rejected(2, 7), accepted(3), rejected(3)],
      false
    ],
    [
      "is still counted for the new token when the old one is accepted late",
      [accepted(3), rejected(3, 7), accepted(2), rejected(3)],
      true
    ],
    [
      "is seen for a token that was received after the clock was set back",
      [accepted(2, 10_000), accepted(3, 5), rejected(3, 8)],
      true
    ],
    [
      "is still counted for the new token when the old one is rejected late",
      [accepted(3), rejected(3, 7), rejected(2), rejected(3)],
      true
    ]
  ])("%s", (_, steps, isSeen) => {
    const { coolDown, mayRenew } = after([...coolingDown, ...steps])
    expect([coolDown > 0, mayRenew]).toEqual([true, isSeen])
  })
})

describe("what is kept of tokens", () => {
  it("is one record for each of the last four", () => {
    let self = Renewals.initial
    for (const number of [1, 2, 3, 3, 4, 5, 5]) self = Renewals.rejected(self, token(number, number, life))
    expect(self.records.map(({ rejections }) => rejections)).toEqual([1, 2, 1, 2])
  })
})
