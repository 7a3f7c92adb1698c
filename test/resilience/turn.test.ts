import { expect, it } from "@effect/vitest"
import type { Hold } from "../../src/internal/resilience/throttle/hold.js"
import * as Turn from "../../src/internal/resilience/throttle/turn.js"

const request = {}

const free = {
  request,
  now: 1_000,
  hold: { _tag: "Open" },
  paced: 0,
  behind: 0,
  deadline: 11_000,
  onTooManyRequests: "wait"
} as const

const held = (until: number): Hold => ({ _tag: "Held", until })

const probing = (probe: object): Hold => ({ _tag: "Probing", probe, since: 0, until: 5_000 })

type Reason = "TooManyRequests" | "Rate"

const now: Turn.Turn = { _tag: "Now" }

const wait = (reason: Reason, millis: number): Turn.Turn => ({ _tag: "Wait", reason, millis })

const tooLate = (reason: Reason, millis: number): Turn.Turn => ({ _tag: "TooLate", reason, millis })

const rows: ReadonlyArray<readonly [title: string, Partial<Parameters<typeof Turn.decide>[0]>, turn: Turn.Turn]> = [
  ["nothing holds it", {}, now],
  ["a hold has ended", { hold: held(1_000) }, now],
  ["it is the probe", { hold: probing(request) }, now],
  ["maxWait is zero and nothing holds it", { deadline: 1_000 }, now],
  ["the rate delays it", { paced: 50 }, wait("Rate", 50)],
  ["others are ahead of it", { paced: 50, behind: 200 }, wait("Rate", 250)],
  ["a hold is longer than the rate", { hold: held(3_000), paced: 50, behind: 200 }, wait("TooManyRequests", 2_200)],
  ["a hold is shorter than the rate", { hold: held(1_010), paced: 50 }, wait("TooManyRequests", 50)],
  ["a hold ends at its deadline", { hold: held(11_000) }, wait("TooManyRequests", 10_000)],
  ["a hold ends after its deadline", { hold: held(11_001) }, tooLate("TooManyRequests", 10_001)],
  [
    "a hold doesn't let requests wait",
    { hold: held(3_000), onTooManyRequests: "fail" },
    tooLate("TooManyRequests", 2_000)
  ],
  [
    "the rate delays it, and a hold would not let it wait",
    { paced: 50, onTooManyRequests: "fail" },
    wait("Rate", 50)
  ],
  ["its turn comes after its deadline", { behind: 10_001 }, tooLate("Rate", 10_001)],
  ["another request is the probe", { hold: probing({}) }, wait("TooManyRequests", 4_000)],
  [
    "a probe may end the hold before its deadline",
    { hold: probing({}), deadline: 2_000 },
    wait("TooManyRequests", 4_000)
  ],
  [
    "a probe has not ended the hold at its deadline",
    { hold: probing({}), deadline: 1_000 },
    tooLate("TooManyRequests", 4_000)
  ],
  ["the rate alone delays it too long", { hold: probing({}), behind: 10_001 }, tooLate("TooManyRequests", 14_001)]
]

it.each(rows.map(([title, situation, turn]) => [turn._tag, title, situation, turn] as const))(
  "Throttle: the turn of a request is %s if %s",
  (_tag, _title, situation, turn) => {
    expect(Turn.decide({ ...free, ...situation })).toEqual(turn)
  }
)
