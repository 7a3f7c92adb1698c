import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Random, TestClock } from "effect"
import { type AccessToken, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { arranged } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { type LogLine, recordingTo } from "../support/doubles/logs.js"

const { unavailable } = Issuer

const keyRejected = new NutritionAdvisorError.Forbidden({ operation: "token", status: 403, reason: "KeyRejected" })

const timedOut = new NutritionAdvisorError.TransportError({ operation: "token", reason: "Timeout" })

const missingServiceId = new NutritionAdvisorError.MissingServiceId({ operation: "token" })

/** The lines that the running test has logged at the default level. */
const lines: Array<LogLine> = []

const recorded = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    lines.length = 0
    return test.pipe(Effect.provide(recordingTo(lines)), Effect.withRandom(Random.fixed([0])))
  })

const test = arranged(Issuer.providerServices, Issuer.layerOnDemand, recorded)

const levels = () => lines.map(({ level }) => level)

const messages = () => lines.map(({ message }) => message)

const tryFor = (seconds: number) =>
  Effect.flatMap(
    TokenProvider.TokenProvider,
    ({ get }) => Effect.repeatN(Effect.zipRight(Effect.exit(get), TestClock.adjust("1 second")), seconds - 1)
  )

type Call = (provider: TokenProvider.Service, token: AccessToken.AccessToken) => Effect.Effect<unknown, unknown>

describe("log of a failed exchange", () => {
  test("the warning says what failed and when the next attempt is", function*({ issuer, provider }) {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Effect.exit(provider.get)
    expect(lines).toEqual([{
      level: "WARN",
      message: `The license key could not be exchanged. ${unavailable.message} There is no usable token. ` +
        "The next exchange starts at 1970-01-01T00:00:01.000Z at the earliest.",
      annotations: { error: "ServerError", status: 503, retryAt: 1_000 }
    }])
  })

  test.each<readonly [error: string, outcome: Issuer.Outcome, labels: object, message: string]>([
    ["Forbidden", Effect.fail(keyRejected), { status: 403, reason: "KeyRejected" }, keyRejected.message],
    ["TransportError", Effect.fail(timedOut), { reason: "Timeout" }, timedOut.message],
    ["MissingServiceId", Effect.fail(missingServiceId), {}, missingServiceId.message],
    ["Defect", Effect.die("a bug"), {}, "The exchange failed with a defect in your own code."]
  ])(
    "the warning and its annotations identify the error: %s",
    function*([error, outcome, labels, message], { issuer, provider }) {
      yield* issuer.respondAlways(outcome)
      yield* Effect.exit(provider.get)
      expect(lines.map((line) => line.annotations)).toEqual([{ error, ...labels, retryAt: 1_000 }])
      expect(messages()).toEqual([expect.stringContaining(` ${message} There is no usable token`)])
    }
  )

  test.each<readonly [situation: string, at: number, call: Call, message: string]>([
    ["has expired", 1_000_000, ({ get }) => get, "There is no usable token"],
    ["is still valid", 900_000, ({ get }) => get, "The current token is used until it expires"],
    ["was rejected", 0, ({ renew }, token) => renew(token), "The rejected token is sent again"],
    ["was rejected and has expired", 1_000_000, ({ renew }, token) => renew(token), "There is no usable token"]
  ])(
    "the warning says what happens to a current token that %s",
    function*([, at, call, message], { issuer, provider }) {
      const token = yield* provider.get
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* TestClock.setTime(at)
      yield* Effect.exit(call(provider, token))
      yield* TestClock.adjust(0)
      expect(levels()).toEqual(["WARN"])
      expect(messages()).toEqual([expect.stringContaining(message)])
    }
  )

  test("closing the layer during an exchange logs no warning", function*() {
    yield* Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.providerServices
      yield* issuer.setLatency("1 minute")
      yield* Effect.fork(provider.get)
      yield* TestClock.adjust(0)
    }).pipe(Effect.provide(Layer.fresh(Issuer.layerOnDemand)))
    expect(lines).toEqual([])
  })
})

test(
  "log of an outage: each failed exchange logs one warning, and the first success says how many have failed",
  function*({ issuer, provider }) {
    yield* issuer.respondNext(...Array.from({ length: 3 }, () => Effect.fail(unavailable)))
    yield* tryFor(8)
    yield* provider.get
    expect(yield* issuer.calls).toBe(4)
    expect(levels()).toEqual(["WARN", "WARN", "WARN", "INFO"])
    expect(lines.slice(3)).toEqual([{
      level: "INFO",
      message: "The client has a new token. Failed token exchanges before it: 3.",
      annotations: {}
    }])
  }
)
