import { describe, expect, it } from "@effect/vitest"
import { Cause, Option } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Moment } from "../../../src/internal/clock.js"
import * as State from "../../../src/internal/token/state.js"
import { coolDownAfter } from "../../../src/RefreshPolicy.js"
import { fewestUnhelpful } from "../../doubles/coolDown.js"
import { token } from "../../doubles/IssuerDouble.js"
import { policyOf } from "../../doubles/policy.js"

const policy = policyOf()

const hour = 3_600_000

const [T1, T2] = [token(1, 0, hour), token(2, 1_000, hour)]

const at = (seconds: number): Moment => ({ wall: seconds * 1_000, monotonic: seconds * 1_000 })

const unavailable = Cause.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503 }))

const busy = Cause.fail(new NutritionAdvisorError.TooManyRequests({ operation: "token", retryAfter: 30 }))

interface Told {
  readonly now: Moment
  readonly say: (line: string) => void
}

type Step = (state: State.State<string>, told: Told) => State.State<string>

const nameOf = (decision: State.Decision<string>) =>
  "flight" in decision ? `${decision._tag} ${decision.flight.result}` : decision._tag

let flights = 0

const makeResult = () => `flight ${++flights}`

const asks = (reason: "missing" | "refresh", replacing?: typeof T1): Step => (state, { now, say }) => {
  const wanted = { reason, replacing: Option.fromNullable(replacing), mustExchange: false }
  const [decision, after] = State.request(state, wanted, makeResult, now)
  say(nameOf(decision))
  return after
}

const needsToken = asks("missing")

const refreshes = (current: typeof T1) => asks("refresh", current)

const isRejected = (used: typeof T1): Step => (state, { now, say }) => {
  const [decision, after] = State.renew(State.reject(state, used), used, false, makeResult, now)
  say(nameOf(decision))
  return after
}

const inFlight = (state: State.State<string>) => {
  if (state.exchange._tag !== "InFlight") throw new Error("no flight is under way")
  return state.exchange.flight
}

const brings = (brought: typeof T1, current?: typeof T1): Step => (state, { now, say }) => {
  const flight = inFlight(state)
  const stays = State.tokenThatStays(state, flight, brought, Option.fromNullable(current), policy, now.wall)
  say(`T${[T1, T2].findIndex((known) => known.value === stays.value) + 1} stays`)
  return State.issued(state, flight, brought, stays, policy, now)
}

const fails = (cause: Cause.Cause<NutritionAdvisorError.TokenError>): Step => (state, { now, say }) => {
  const [retryAt, after] = State.failed(state, inFlight(state), cause, 0, policy, now)
  say(`retry at ${retryAt / 1_000} s`)
  return after
}

const findsAnother: Step = (state, { say }) => {
  say("reused")
  return State.reused(state)
}

type Line = readonly [seconds: number, step: Step, told: string]

/** What each step is told, at its time. */
const history = (title: string, lines: ReadonlyArray<Line>) =>
  it(title, () => {
    flights = 0
    const said: Array<string> = []
    lines.reduce<State.State<string>>(
      (state, [seconds, step]) => step(state, { now: at(seconds), say: (line) => said.push(line) }),
      State.initial
    )
    expect(said).toEqual(lines.map(([, , told]) => told))
  })

/** Renewals that gave back the rejected token, all in the same moment. */
const handBacks = (count: number) =>
  Array.from({ length: count }, (_, index): ReadonlyArray<Line> => [
    [0, isRejected(T1), `Start flight ${index + 1}`],
    [0, brings(T1, T1), "T1 stays"]
  ]).flat()

const fewest = fewestUnhelpful(policy)

/** In seconds. */
const coolDown = coolDownAfter(policy, fewest) / 1_000

describe("a caller without a token", () => {
  history("starts the one exchange that others join", [
    [0, needsToken, "Start flight 1"],
    [1, needsToken, "Join flight 1"],
    [1, refreshes(T1), "Join flight 1"],
    [1, isRejected(T1), "Join flight 1"]
  ])

  history("starts another one after the first has ended", [
    [0, needsToken, "Start flight 1"],
    [1, brings(T1), "T1 stays"],
    [2, needsToken, "Start flight 2"]
  ])
})

describe("after a failed exchange", () => {
  history("everyone is told the failure until the backoff is over, which doubles", [
    [0, needsToken, "Start flight 1"],
    [0, fails(unavailable), "retry at 1 s"],
    [0.999, needsToken, "Fail"],
    [0.999, isRejected(T1), "Fail"],
    [0.999, refreshes(T1), "Fail"],
    [1, needsToken, "Start flight 2"],
    [1, fails(unavailable), "retry at 3 s"],
    [3, needsToken, "Start flight 3"],
    [3, fails(unavailable), "retry at 7 s"]
  ])

  history("a renewal is told the failure first, and cools down after the backoff", [
    ...handBacks(fewest - 1),
    [0, isRejected(T1), `Start flight ${fewest}`],
    [0, fails(unavailable), "retry at 1 s"],
    [0.999, isRejected(T1), "Fail"],
    [1, isRejected(T1), "CoolDown"],
    [coolDown, isRejected(T1), `Start flight ${fewest + 1}`]
  ])

  history("a Retry-After makes the backoff longer", [
    [0, needsToken, "Start flight 1"],
    [0, fails(busy), "retry at 30 s"],
    [29.999, needsToken, "Fail"],
    [30, needsToken, "Start flight 2"]
  ])

  history("a success starts the backoff at one second again", [
    [0, needsToken, "Start flight 1"],
    [0, fails(unavailable), "retry at 1 s"],
    [1, needsToken, "Start flight 2"],
    [1, brings(T1), "T1 stays"],
    [2, needsToken, "Start flight 3"],
    [2, fails(unavailable), "retry at 3 s"]
  ])

  history("a token that was found in the store is no success: the next failure doubles the backoff", [
    [0, needsToken, "Start flight 1"],
    [0, fails(unavailable), "retry at 1 s"],
    [1, needsToken, "Start flight 2"],
    [1, findsAnother, "reused"],
    [2, needsToken, "Start flight 3"],
    [2, fails(unavailable), "retry at 4 s"]
  ])
})

describe("of two tokens", () => {
  history("the one that ends later stays after a refresh", [
    [0, refreshes(T1), "Start flight 1"],
    [1, brings(T1, T2), "T2 stays"]
  ])

  history("the new one stays after a rejection", [
    [0, isRejected(T2), "Start flight 1"],
    [1, brings(T1, T2), "T1 stays"]
  ])

  history("the new one stays where a rejection joined a refresh", [
    [0, refreshes(T2), "Start flight 1"],
    [0, isRejected(T2), "Join flight 1"],
    [1, brings(T1, T2), "T1 stays"]
  ])
})

describe("a refresh that gave back the same stale token", () => {
  history("is not repeated for a tenth of the window, but does not keep a caller without a token waiting", [
    [3_400, refreshes(T1), "Start flight 1"],
    [3_400, brings(T1, T1), "T1 stays"],
    [3_429, refreshes(T1), "Hold"],
    [3_430, refreshes(T1), "Start flight 2"],
    [3_430, brings(T1, T1), "T1 stays"],
    [3_431, needsToken, "Start flight 3"]
  ])
})

describe("a refresh that gave back the same token while it was fresh", () => {
  history("keeps none waiting that is due afterwards", [
    [3_290, refreshes(T1), "Start flight 1"],
    [3_290, brings(T1, T1), "T1 stays"],
    [3_301, refreshes(T1), "Start flight 2"]
  ])
})

describe("a renewal that gave back the rejected token", () => {
  history("counts towards a cool-down", [
    ...handBacks(fewest),
    [coolDown - 0.001, isRejected(T1), "CoolDown"],
    [coolDown, isRejected(T1), `Start flight ${fewest + 1}`]
  ])
})

describe("the failure shown in the status", () => {
  it("stays after a success, and is not replaced by a defect", () => {
    const wanted = { reason: "missing" as const, replacing: Option.none(), mustExchange: false }
    const [, started] = State.request(State.initial, wanted, makeResult, at(0))
    const [retryAt, failed] = State.failed(started, wanted, unavailable, 0, policy, at(0))
    const [, died] = State.failed(failed, wanted, Cause.die("a bug"), 0, policy, at(1))
    const issued = State.issued(died, wanted, T1, T1, policy, at(2))
    expect(issued.lastFailure).toMatchObject({ value: { at: 0, retryAt } })
  })
})
