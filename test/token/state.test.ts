import { describe, expect, it } from "@effect/vitest"
import { Cause, Either, Option } from "effect"
import { type AccessToken, NutritionAdvisorError, RefreshPolicy, type TokenIssuer } from "effect-nutrition-advisor"
import * as State from "../../src/internal/token/state.js"
import { token } from "../support/doubles/IssuerDouble.js"

const policy = Either.getOrThrow(RefreshPolicy.make())

/** A token that lives for 1,000 s: its window starts at 900 s. */
const T1 = token(1, 0, 1_000_000)

const unavailable = Cause.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503 }))

const busy = Cause.fail(new NutritionAdvisorError.TooManyRequests({ operation: "token", retryAfter: 30 }))

const down = Cause.fail(new NutritionAdvisorError.ServerError({ operation: "token", status: 503, retryAfter: 60 }))

/** Both clocks show the same time, because no rule compares them. */
const momentOf = (millis: number) => ({ wall: millis, monotonic: millis })

/** A transition, and what callers see of it. */
type Step = (state: State.State<string>, now: number) => readonly [seen: string, state: State.State<string>]

let flights = 0

/** The error that callers get: its reason, or its tag if it has none. */
const errorOf = (cause: Cause.Cause<NutritionAdvisorError.TokenError>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => "Defect",
    onSome: (error) => "reason" in error ? error.reason : error._tag
  })

const askFor = (reason: TokenIssuer.ExchangeRequest["reason"]): Step => (state, now) => {
  const refusal = State.refusalOf(state, reason, momentOf(now))
  if (refusal) return [`fails: ${errorOf(refusal)}`, state]
  flights++
  const flight = `flight ${flights}`
  return [`starts ${flight}`, State.started(state, flight, reason, momentOf(now))]
}

const ask = askFor("missing")

const renew = askFor("rejection")

const refresh = askFor("refresh")

const succeed =
  (token: AccessToken.AccessToken): Step => (state, now) => ["", State.succeeded(state, token, momentOf(now))]

const fail = (cause: Cause.Cause<NutritionAdvisorError.TokenError>): Step => (state, now) => {
  const after = State.failed(state, cause, 0, momentOf(now))
  return [after.phase._tag === "BackingOff" ? `until ${after.phase.until.monotonic / 1_000} s` : "closed", after]
}

const closeAndAsk: Step = (state, now) => ask(State.closed(state), now)

type Row = readonly [seconds: number, step: Step, seen: string]

const table: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<Row>]> = [
  ["callers get the last failure until its backoff ends, and backoffs double", [
    [0, ask, "starts flight 1"],
    [0, fail(unavailable), "until 1 s"],
    [0.999, ask, "fails: ServerError"],
    [0.999, renew, "fails: ServerError"],
    [1, ask, "starts flight 2"],
    [1, fail(unavailable), "until 3 s"],
    [3, ask, "starts flight 3"],
    [3, fail(unavailable), "until 7 s"]
  ]],
  ["a defect starts a backoff, like an error", [
    [0, ask, "starts flight 1"],
    [0, fail(Cause.die("a bug")), "until 1 s"],
    [0.999, ask, "fails: Defect"]
  ]],
  ["a Retry-After makes the backoff longer", [
    [0, ask, "starts flight 1"],
    [0, fail(busy), "until 30 s"],
    [30, ask, "starts flight 2"],
    [30, fail(down), "until 90 s"]
  ]],
  ["a success resets the backoff to one second", [
    [0, ask, "starts flight 1"],
    [0, fail(unavailable), "until 1 s"],
    [1, ask, "starts flight 2"],
    [1, succeed(T1), ""],
    [2, ask, "starts flight 3"],
    [2, fail(unavailable), "until 3 s"]
  ]],
  ["at most two renewals start in any 15 s", [
    [0, renew, "starts flight 1"],
    [0, succeed(T1), ""],
    [10, renew, "starts flight 2"],
    [10, succeed(T1), ""],
    [12, ask, "starts flight 3"],
    [12, succeed(T1), ""],
    [14.999, renew, "fails: CoolingDown"],
    [15, renew, "starts flight 4"],
    [15, succeed(T1), ""],
    [24.999, renew, "fails: CoolingDown"],
    [25, renew, "starts flight 5"]
  ]],
  ["a failed renewal counts toward the limit, and callers get its failure first, then CoolingDown", [
    [0, renew, "starts flight 1"],
    [0, succeed(T1), ""],
    [0, renew, "starts flight 2"],
    [0, fail(unavailable), "until 1 s"],
    [0.5, renew, "fails: ServerError"],
    [1, renew, "fails: CoolingDown"],
    [1, ask, "starts flight 3"]
  ]],
  ["after an exchange, no refresh starts for a tenth of the window", [
    [900, refresh, "starts flight 1"],
    [900, succeed(T1), ""],
    [909.999, refresh, "fails: CoolingDown"],
    [910, refresh, "starts flight 2"]
  ]],
  ["a delayed refresh delays neither a renewal nor callers without a token", [
    [900, refresh, "starts flight 1"],
    [900, succeed(T1), ""],
    [901, renew, "starts flight 2"],
    [901, succeed(T1), ""],
    [902, ask, "starts flight 3"]
  ]],
  ["after closing, all callers fail without a new flight", [
    [0, ask, "starts flight 1"],
    [1, closeAndAsk, "fails: Closed"],
    [1, fail(unavailable), "closed"],
    [2, ask, "fails: Closed"],
    [2, renew, "fails: Closed"],
    [3, succeed(T1), ""],
    [4, ask, "fails: Closed"]
  ]]
]

describe("token state", () => {
  it.each(table)("%s", (_, rows) => {
    flights = 0
    const seen: Array<string> = []
    rows.reduce<State.State<string>>((state, [seconds, step]) => {
      const [line, after] = step(state, seconds * 1_000)
      seen.push(line)
      return after
    }, State.initial(policy))
    expect(seen).toEqual(rows.map(([, , line]) => line))
  })

  it("a backoff ends at a whole millisecond of both clocks", () => {
    const failed = State.failed(State.initial(policy), unavailable, 0.123, { wall: 5_000, monotonic: 0 })
    expect(failed).toMatchObject({
      phase: { until: { wall: 5_976, monotonic: 976 } },
      lastFailure: Option.some({ retryAt: 5_976 })
    })
  })

  it("a success or a defect does not clear the last failure", () => {
    const failed = State.failed(State.initial(policy), unavailable, 0, { wall: 5_000, monotonic: 0 })
    const died = State.failed(failed, Cause.die("a bug"), 0, momentOf(6_000))
    const { lastFailure } = State.succeeded(died, T1, momentOf(7_000))
    expect(Option.map(lastFailure, ({ at, error, retryAt }) => [error._tag, at, retryAt]))
      .toEqual(Option.some(["ServerError", 5_000, 6_000]))
  })
})
