import { describe, expect, it } from "@effect/vitest"
import { momentOf } from "../../../src/internal/clock.js"
import * as Pause from "../../../src/internal/pause.js"
import * as Renewals from "../../../src/internal/token/renewals.js"
import { token } from "../../doubles/IssuerDouble.js"
import * as ManualClock from "../../doubles/ManualClock.js"
import { policyOf } from "../../doubles/policy.js"

const timing = policyOf()

const life = 3_600_000

const started = () => {
  const clock = ManualClock.make()
  let self = Renewals.initial
  return {
    clock,
    accepted: (number: number) => {
      self = Renewals.accepted(self, token(number, number, life))
    },
    rejected: (number: number, times = 1) => {
      for (let time = 0; time < times; time++) self = Renewals.rejected(self, token(number, number, life))
    },
    renewalHelped: (number: number) => {
      self = Renewals.renewalHelped(self, token(number, number, life))
    },
    newTokenRejected: (number: number) => {
      self = Renewals.newTokenRejected(self, token(number, number, life), timing, momentOf(clock))
    },
    noNewToken: () => {
      self = Renewals.noNewToken(self, timing, momentOf(clock))
    },
    mayRenew: () => {
      const [may, after] = Renewals.mayRenew(self, momentOf(clock))
      self = after
      return may
    },
    coolDown: () => Pause.remaining(self.coolDown, momentOf(clock)),
    keep: (used: ReturnType<typeof token>) => {
      self = Renewals.accepted(self, used)
    }
  }
}

describe("the cool-down", () => {
  it("does not stand at first", () => {
    expect(started().mayRenew()).toBe(true)
  })

  it("is 5 s after the first renewal that did not help", () => {
    const it = started()
    it.newTokenRejected(2)
    expect([it.mayRenew(), it.coolDown()]).toEqual([false, 5_000])
  })

  it("is over after its time, not 1 ms earlier", () => {
    const it = started()
    it.newTokenRejected(2)
    ManualClock.pass(it.clock, 4_999)
    const before = it.mayRenew()
    ManualClock.pass(it.clock, 1)
    expect([before, it.mayRenew()]).toEqual([false, true])
  })

  it("doubles with each further renewal that did not help, up to a minute", () => {
    const it = started()
    const coolDowns = [2, 3, 4, 5, 6, 7].map((number) => {
      it.newTokenRejected(number)
      return it.coolDown()
    })
    expect(coolDowns).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })

  it("goes on doubling after it has been over", () => {
    const it = started()
    it.newTokenRejected(2)
    ManualClock.pass(it.clock, 60_000)
    it.newTokenRejected(3)
    expect(it.coolDown()).toBe(10_000)
  })

  it("counts a token once, however many replays it failed", () => {
    const it = started()
    it.newTokenRejected(2)
    it.newTokenRejected(2)
    it.newTokenRejected(2)
    expect(it.coolDown()).toBe(5_000)
  })

  it("counts two tokens twice, in whatever order their replays failed", () => {
    const it = started()
    it.newTokenRejected(2)
    it.newTokenRejected(3)
    it.newTokenRejected(2)
    it.newTokenRejected(3)
    expect(it.coolDown()).toBe(10_000)
  })

  it("grows each time an exchange brings no other token, though the rejected one is the same", () => {
    const it = started()
    const coolDowns = [1, 2, 3].map(() => {
      it.noNewToken()
      return it.coolDown()
    })
    expect(coolDowns).toEqual([5_000, 10_000, 20_000])
  })

  it("is not shortened by a late verdict on an older token whose renewal had helped", () => {
    const it = started()
    it.renewalHelped(2)
    it.newTokenRejected(3)
    it.newTokenRejected(4)
    it.newTokenRejected(2)
    expect(it.coolDown()).toBeGreaterThanOrEqual(10_000)
  })

  it("is cleared by a renewal that helped after one that brought no other token", () => {
    const it = started()
    it.noNewToken()
    it.renewalHelped(2)
    expect(it.mayRenew()).toBe(true)
  })

  it("does not begin anew with another replay of the token that began it", () => {
    const it = started()
    it.newTokenRejected(2)
    ManualClock.pass(it.clock, 3_000)
    it.newTokenRejected(2)
    expect(it.coolDown()).toBe(2_000)
  })

  it("is cleared by a renewal that helped", () => {
    const it = started()
    it.newTokenRejected(2)
    it.renewalHelped(3)
    expect(it.mayRenew()).toBe(true)
  })

  it("starts at 5 s again after a renewal that helped", () => {
    const it = started()
    it.newTokenRejected(2)
    it.newTokenRejected(3)
    it.renewalHelped(4)
    it.newTokenRejected(5)
    expect(it.coolDown()).toBe(5_000)
  })

  it("is not cleared by a search that succeeds without a renewal", () => {
    const it = started()
    it.newTokenRejected(2)
    it.accepted(2)
    expect(it.mayRenew()).toBe(false)
  })

  it("stays where one replay of the new token was rejected and another one accepted", () => {
    const it = started()
    it.newTokenRejected(2)
    it.renewalHelped(2)
    expect([it.mayRenew(), it.coolDown()]).toEqual([false, 5_000])
  })

  it("begins where one replay of the new token was accepted and another one rejected", () => {
    const it = started()
    it.renewalHelped(2)
    it.newTokenRejected(2)
    expect([it.mayRenew(), it.coolDown()]).toEqual([false, 5_000])
  })

  it("grows the same with mixed verdicts on one token, whichever comes first", () => {
    const rejectedFirst = started()
    const acceptedFirst = started()
    for (const number of [2, 3, 4]) {
      rejectedFirst.newTokenRejected(number)
      rejectedFirst.renewalHelped(number)
      acceptedFirst.renewalHelped(number)
      acceptedFirst.newTokenRejected(number)
    }
    expect([rejectedFirst.coolDown(), acceptedFirst.coolDown()]).toEqual([20_000, 20_000])
  })
})

const coolingDown = () => {
  const state = started()
  state.newTokenRejected(2)
  return state
}

describe("a revocation during the cool-down", () => {
  it("is seen at the eighth rejection of a token that had been accepted", () => {
    const it = coolingDown()
    it.accepted(2)
    it.rejected(2, 7)
    const atSeven = it.mayRenew()
    it.rejected(2)
    expect([atSeven, it.mayRenew()]).toEqual([false, true])
  })

  it("is not seen for a token that was never accepted", () => {
    const it = coolingDown()
    it.rejected(2, 100)
    expect(it.mayRenew()).toBe(false)
  })

  it("is not seen when an acceptance came between", () => {
    const it = coolingDown()
    it.accepted(2)
    it.rejected(2, 7)
    it.accepted(2)
    it.rejected(2, 7)
    expect(it.mayRenew()).toBe(false)
  })

  it("is seen by the value of the token, whatever object carries it", () => {
    const it = coolingDown()
    it.keep(token(2, 2, life))
    it.rejected(2, 8)
    expect(it.mayRenew()).toBe(true)
  })

  it("ends it early once, and not again within 5 s", () => {
    const it = coolingDown()
    it.accepted(2)
    it.rejected(2, 8)
    it.mayRenew()
    it.newTokenRejected(3)
    it.accepted(3)
    it.rejected(3, 8)
    const atOnce = it.mayRenew()
    ManualClock.pass(it.clock, 4_999)
    const before = it.mayRenew()
    ManualClock.pass(it.clock, 1)
    expect([atOnce, before, it.mayRenew()]).toEqual([false, false, true])
  })

  it("counts the rejections of a new token from the start", () => {
    const it = coolingDown()
    it.accepted(2)
    it.rejected(2, 7)
    it.accepted(3)
    it.rejected(3)
    expect(it.mayRenew()).toBe(false)
  })

  it("is still counted for the new token when the old one is accepted late", () => {
    const it = coolingDown()
    it.accepted(3)
    it.rejected(3, 7)
    it.accepted(2)
    it.rejected(3)
    expect(it.mayRenew()).toBe(true)
  })

  it("is seen for a token that was received after the clock was set back", () => {
    const it = coolingDown()
    it.keep(token(2, 10_000, life))
    it.keep(token(3, 5, life))
    for (let time = 0; time < 8; time++) it.rejected(3)
    expect(it.mayRenew()).toBe(true)
  })

  it("is still counted for the new token when the old one is rejected late", () => {
    const it = coolingDown()
    it.accepted(3)
    it.rejected(3, 7)
    it.rejected(2)
    it.rejected(3)
    expect(it.mayRenew()).toBe(true)
  })
})

describe("what is kept of tokens", () => {
  it("is one record for each of the last four", () => {
    let self = Renewals.initial
    for (const number of [1, 2, 3, 3, 4, 5, 5]) self = Renewals.rejected(self, token(number, number, life))
    expect(self.records.map(({ rejections }) => rejections)).toEqual([1, 2, 1, 2])
  })
})
