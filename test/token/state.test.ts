import { describe, expect, it } from "@effect/vitest"
import { Cause, Option } from "effect"
import { type AccessToken, NutritionAdvisorError } from "effect-nutrition-advisor"
import * as State from "../../src/internal/token/state.js"
import { token } from "../support/doubles/IssuerDouble.js"
import { policyOf } from "../support/doubles/policy.js"

const policy = policyOf()

/** A life of 1000 s: its window begins at 900 s. */
const T1 = token(1, 0, 1_000_000)

const unavailable = Cause.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503 }))

const busy = Cause.fail(new NutritionAdvisorError.TooManyRequests({ operation: "token", retryAfter: 30 }))

const down = Cause.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503, retryAfter: 60 }))

/** Both clocks show the same, since no rule compares them. */
const momentOf = (millis: number) => ({ wall: millis, monotonic: millis })

/** What a step makes of the state, and what it tells. */
type Step = (state: State.State<string>, now: number) => readonly [told: string, state: State.State<string>]

let flights = 0

const nextFlight = () => `flight ${flights + 1}`

const tell = (decision: State.Decision<string> | State.CoolingDown) => {
  if (decision._tag !== "Wait") return decision._tag
  const isNew = decision.flight === nextFlight()
  if (isNew) flights++
  return `${isNew ? "starts" : "joins"} ${decision.flight}`
}

const asks: Step = (state, now) => {
  const [decision, after] = State.ask(state, nextFlight(), momentOf(now))
  return [tell(decision), after]
}

const isRejected: Step = (state, now) => {
  const [decision, after] = State.renew(state, nextFlight(), policy, momentOf(now))
  return [tell(decision), after]
}

const looks: Step = (state, now) => [State.isRefreshHeld(state, momentOf(now)) ? "held" : "free", state]

const brings =
  (token: AccessToken.AccessToken): Step => (state, now) => ["", State.succeeded(state, token, policy, momentOf(now))]

const fails = (cause: Cause.Cause<NutritionAdvisorError.TokenError>): Step => (state, now) => {
  const after = State.failed(state, cause, 0, policy, momentOf(now))
  return [after._tag === "Closed" ? "closed" : `until ${after.until / 1_000} s`, after]
}

const isClosed: Step = (state, now) => asks(State.close(state), now)

type Row = readonly [seconds: number, step: Step, told: string]

const table: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<Row>]> = [
  ["one flight at a time serves all who ask", [
    [0, asks, "starts flight 1"],
    [1, asks, "joins flight 1"],
    [1, isRejected, "joins flight 1"],
    [2, brings(T1), ""],
    [3, asks, "starts flight 2"]
  ]],
  ["a failure is told until its backoff is over, which doubles", [
    [0, asks, "starts flight 1"],
    [0, fails(unavailable), "until 1 s"],
    [0.999, asks, "Fail"],
    [0.999, isRejected, "Fail"],
    [1, asks, "starts flight 2"],
    [1, fails(unavailable), "until 3 s"],
    [3, asks, "starts flight 3"],
    [3, fails(unavailable), "until 7 s"]
  ]],
  ["a Retry-After makes the backoff longer", [
    [0, asks, "starts flight 1"],
    [0, fails(busy), "until 30 s"],
    [30, asks, "starts flight 2"],
    [30, fails(down), "until 90 s"]
  ]],
  ["a success starts the backoff at one second again", [
    [0, asks, "starts flight 1"],
    [0, fails(unavailable), "until 1 s"],
    [1, asks, "starts flight 2"],
    [1, brings(T1), ""],
    [2, asks, "starts flight 3"],
    [2, fails(unavailable), "until 3 s"]
  ]],
  ["two renewals begin in any 15 s, and no third one", [
    [0, isRejected, "starts flight 1"],
    [0, brings(T1), ""],
    [10, isRejected, "starts flight 2"],
    [10, brings(T1), ""],
    [14.999, isRejected, "CoolingDown"],
    [15, isRejected, "starts flight 3"],
    [15, brings(T1), ""],
    [24.999, isRejected, "CoolingDown"],
    [25, isRejected, "starts flight 4"]
  ]],
  ["a renewal that joins a flight does not count", [
    [0, asks, "starts flight 1"],
    [0, isRejected, "joins flight 1"],
    [0, isRejected, "joins flight 1"],
    [1, brings(T1), ""],
    [1, isRejected, "starts flight 2"],
    [1, brings(T1), ""],
    [1, isRejected, "starts flight 3"]
  ]],
  ["a renewal that fails counts too, and is told its failure before the cool-down", [
    [0, isRejected, "starts flight 1"],
    [0, brings(T1), ""],
    [0, isRejected, "starts flight 2"],
    [0, fails(unavailable), "until 1 s"],
    [0.5, isRejected, "Fail"],
    [1, isRejected, "CoolingDown"],
    [1, asks, "starts flight 3"]
  ]],
  ["a stale token is asked for again after a tenth of its window", [
    [0, looks, "free"],
    [900, asks, "starts flight 1"],
    [900, brings(T1), ""],
    [909.999, looks, "held"],
    [910, looks, "free"]
  ]],
  ["a fresh token holds no refresh", [
    [900, asks, "starts flight 1"],
    [900, brings(T1), ""],
    [901, asks, "starts flight 2"],
    [901, brings(token(2, 901_000, 1_000_000)), ""],
    [901, looks, "free"]
  ]],
  ["after closing, everyone fails and no flight starts", [
    [0, asks, "starts flight 1"],
    [1, isClosed, "Fail"],
    [1, fails(unavailable), "closed"],
    [2, asks, "Fail"],
    [2, isRejected, "Fail"],
    [3, brings(T1), ""],
    [4, asks, "Fail"]
  ]]
]

describe("the state of a token's life", () => {
  it.each(table)("%s", (_, rows) => {
    flights = 0
    const told: Array<string> = []
    rows.reduce<State.State<string>>((state, [seconds, step]) => {
      const [line, after] = step(state, seconds * 1_000)
      told.push(line)
      return after
    }, State.initial)
    expect(told).toEqual(rows.map(([, , line]) => line))
  })

  it("remembers the last failure beyond a success, but no defect", () => {
    const failed = State.failed(State.initial, unavailable, 0, policy, { wall: 5_000, monotonic: 0 })
    const died = State.failed(failed, Cause.die("a bug"), 0, policy, momentOf(6_000))
    const { lastFailure } = State.succeeded(died, T1, policy, momentOf(7_000))
    expect(Option.map(lastFailure, ({ at, error, retryAt }) => [error._tag, at, retryAt]))
      .toEqual(Option.some(["ServerError", 5_000, 6_000]))
  })
})
