import { describe, expect, it } from "vitest"
import * as Rounds from "../../src/internal/shared/rounds.js"

const limits = { waitsUntil: 25_000, maxCacheOutage: 5_000 }

/** With this random number, waits don't vary, and a replica waits for a failing cache half as long as it may. */
const random = 0.5

/** A round, and what it shows of the rules. */
type Step = (rounds: Rounds.Rounds, now: number) => readonly [seen: string, rounds: Rounds.Rounds]

const next = (rounds: Rounds.Rounds, now: number) => {
  const wait = Rounds.nextWait(rounds, random, now)
  if (wait !== undefined) return `waits ${wait}`
  return Rounds.isLeaseToBlame(rounds) ? "blames the lease" : "exchanges alone"
}

/** There is no token, and a peer holds the lease. */
const find: Step = (rounds, now) => {
  const asks = Rounds.mayTakeLease(rounds, now)
  const after = Rounds.foundNothing(rounds)
  return [`${asks ? "asks" : "reads"}, ${next(after, now)}`, after]
}

const fail: Step = (rounds, now) => {
  const after = Rounds.cacheFailed(rounds, random, now)
  return [next(after, now), after]
}

type Row = readonly [now: number, step: Step, seen: string]

const table: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<Row>]> = [
  ["a replica asks for the lease in the first round, and in all rounds after a second", [
    [0, find, "asks, waits 110"],
    [110, find, "reads, waits 160"],
    [270, find, "reads, waits 290"],
    [560, find, "reads, waits 510"],
    [1_070, find, "asks, waits 850"],
    [1_920, find, "asks, waits 850"]
  ]],
  ["a round in which the cache fails is repeated after a longer wait", [
    [0, fail, "waits 110"],
    [110, find, "asks, waits 160"],
    [270, fail, "waits 290"],
    [560, find, "reads, waits 510"]
  ]],
  ["the last wait ends when the wait for a peer does, and then the lease is not taken but blamed", [
    [0, find, "asks, waits 110"],
    [110, find, "reads, waits 160"],
    [270, find, "reads, waits 290"],
    [560, find, "reads, waits 510"],
    [24_900.5, find, "asks, waits 100"],
    [25_000, find, "reads, blames the lease"]
  ]],
  ["a replica gives up on a failing cache before it gives up on a peer", [
    [0, find, "asks, waits 110"],
    [110, fail, "waits 160"],
    [2_600, fail, "waits 10"],
    [2_610, fail, "exchanges alone"]
  ]],
  ["if the cache recovers, a later outage may last as long as the first one", [
    [0, fail, "waits 110"],
    [2_000, find, "asks, waits 160"],
    [3_000, fail, "waits 290"],
    [5_499, fail, "waits 1"],
    [5_500, fail, "exchanges alone"]
  ]],
  ["a cache that fails late is given up before the wait for a peer ends", [
    [24_000, fail, "waits 110"],
    [24_500, fail, "exchanges alone"]
  ]]
]

describe("sharing: rounds", () => {
  it.each(table)("%s", (_, rows) => {
    const seen: Array<string> = []
    rows.reduce((rounds, [now, step]) => {
      const [line, after] = step(rounds, now)
      seen.push(line)
      return after
    }, Rounds.initial(limits))
    expect(seen).toEqual(rows.map(([, , line]) => line))
  })

  it("waits vary by 15 ms in both directions", () => {
    const rounds = Rounds.foundNothing(Rounds.initial(limits))
    expect([0, 1].map((random) => Rounds.nextWait(rounds, random, 0))).toEqual([95, 125])
  })
})
