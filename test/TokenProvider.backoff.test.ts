import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Array as Arr, Cause, Effect, Exit, HashMap, Logger, LogLevel, Option, Random } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "./doubles/arranged.js"
import * as Issuer from "./doubles/IssuerDouble.js"
import { backingOff, cold, fresh, issuer, provider, simulated, store } from "./doubles/situations.js"
import * as Time from "./doubles/Time.js"

const windowStart = 900_000
const marginStart = 990_000
const expiry = 1_000_000

const { unavailable } = Issuer

/** Each backoff is as long as it may be. */
const waitingLongest = arranged(Effect.void, Issuer.layerOnDemand, Effect.withRandom(Random.fixed([0])))

describe("while a token holds", () => {
  fresh("a failed refresh leaves callers with it until the margin", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(windowStart)
    const values = yield* Effect.all(
      Effect.replicate(Effect.zipLeft(Effect.map(provider.get, Issuer.valueOf), Time.pass("9 seconds")), 10)
    )
    expect(values).toEqual(Arr.replicate(Issuer.secretOf(1), 10))
  })

  waitingLongest("many calls a second for a minute cost what the backoff allows", function*() {
    yield* provider.get
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(windowStart)
    const second = Effect.zipRight(
      Effect.all(Effect.replicate(provider.get, 10), { discard: true }),
      Time.pass("1 second")
    )
    yield* Effect.repeatN(second, 59)
    const [, ...starts] = yield* issuer.starts
    expect(starts.map((at) => at - windowStart)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000])
  })
})

describe("the end of a backoff", () => {
  it.effect("is told in whole milliseconds, in the status as in the log", () => {
    const told: Array<unknown> = []
    const logger = Logger.make(({ annotations, message }) => {
      if (String(message) === "An exchange failed") {
        told.push(Option.getOrUndefined(HashMap.get(annotations, "retryAt")))
      }
    })
    return Effect.gen(function*() {
      const { issuer, provider } = yield* Issuer.services
      yield* issuer.respondAlways(Effect.fail(unavailable))
      yield* Effect.flip(provider.get)
      const retryAt = Option.getOrThrow((yield* provider.status).lastFailure).retryAt
      expect(Number.isInteger(retryAt)).toBe(true)
      expect(told).toEqual([retryAt])
      yield* Time.set(retryAt - 1)
      yield* Effect.flip(provider.get)
      expect(yield* issuer.calls).toBe(1)
      yield* Time.set(retryAt)
      yield* Effect.flip(provider.get)
      expect(yield* issuer.calls).toBe(2)
    }).pipe(
      Effect.provide(Issuer.layerOnDemand),
      Effect.withRandom(Random.fixed([0.123])),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(LogLevel.Debug)
    )
  })
})

describe("once a token is expired", () => {
  fresh("a failed exchange fails the call, and the token is not served", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(marginStart)
    expect(yield* Effect.flip(provider.get)).toMatchObject({ _tag: "ServerError", status: 503 })
  })
})

/** Whether another exchange is tried 1 ms before that time, and then. */
const triesAround = (error: NutritionAdvisorError.TokenError, millis: number) =>
  Effect.gen(function*() {
    const { issuer, provider } = yield* Issuer.backingOff(error)
    yield* Time.pass(millis - 1)
    yield* Effect.flip(provider.get)
    const before = yield* issuer.calls
    yield* Time.pass(1)
    yield* Effect.flip(provider.get)
    return { "1 ms before": before > 1, "then": (yield* issuer.calls) > before }
  })

const answered = {
  429: (retryAfter: number) => new NutritionAdvisorError.TooManyRequests({ operation: "token", retryAfter }),
  503: (retryAfter: number) => new NutritionAdvisorError.ServerError({ operation: "token", status: 503, retryAfter })
}

describe("the backoff", () => {
  it.effect.each([
    { after: "a first failure", error: unavailable, random: 0, millis: 1_000 },
    { after: "a first failure, shorter by a fifth at most,", error: unavailable, random: 1, millis: 800 },
    { after: "a 429 with a Retry-After of 30 s", error: answered[429](30), random: 0, millis: 30_000 },
    { after: "a 503 with a Retry-After of 30 s", error: answered[503](30), random: 0, millis: 30_000 },
    { after: "a 429 with a Retry-After of a day", error: answered[429](86_400), random: 0, millis: 3_600_000 },
    { after: "a 503 with a Retry-After of a day", error: answered[503](86_400), random: 0, millis: 3_600_000 }
  ])("after $after stands for $millis ms, to the ms", ({ error, millis, random }) =>
    Effect.gen(function*() {
      expect(yield* triesAround(error, millis)).toEqual({ "1 ms before": false, "then": true })
    }).pipe(Effect.provide(Issuer.layerOnDemand), Effect.withRandom(Random.fixed([random]))))

  cold("opens after a defect as after an error", function*() {
    yield* issuer.respondAlways(Effect.dieMessage("the issuer is broken"))
    const exits = yield* Effect.all(Effect.replicate(Effect.exit(provider.get), 10))
    expect([exits.every((exit) => Exit.isFailure(exit) && Cause.isDie(exit.cause)), yield* issuer.calls])
      .toEqual([true, 1])
  })

  waitingLongest("shows the time of the next try in the status", function*() {
    yield* Time.set(5_000)
    yield* Issuer.backingOff()
    expect((yield* provider.status).lastFailure).toEqual(Option.some({ error: unavailable, at: 5_000, retryAt: 6_000 }))
  })

  backingOff("is cleared by a success", function*() {
    yield* Time.pass("1 second")
    yield* issuer.respondAlways(undefined)
    const used = yield* provider.get
    expect([Issuer.valueOf(yield* provider.renew(used)), yield* issuer.calls]).toEqual([Issuer.secretOf(2), 3])
  })

  fresh("is not cleared by an invalidation", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(windowStart)
    yield* store.invalidate(yield* provider.get)
    yield* Time.pass(0)
    expect([yield* Effect.flip(provider.get), yield* issuer.calls]).toEqual([unavailable, 2])
  })
})

describe("the status", () => {
  cold("is none before the first token", function*() {
    expect(yield* provider.status).toEqual({ state: "none", expiresAt: Option.none(), lastFailure: Option.none() })
  })

  fresh.each([
    { at: 0, state: "fresh" },
    { at: windowStart - 1, state: "fresh" },
    { at: windowStart, state: "stale" },
    { at: marginStart - 1, state: "stale" },
    { at: marginStart, state: "expired" }
  ])("is $state at $at ms of 1,000,000", function*({ at, state }) {
    yield* Time.set(at)
    expect(yield* provider.status).toEqual({ state, expiresAt: Option.some(expiry), lastFailure: Option.none() })
  })

  fresh("costs no exchange", function*() {
    yield* Time.set(expiry)
    yield* Effect.repeatN(provider.status, 10)
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(1)
  })

  fresh("shows no secret", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(windowStart)
    yield* provider.get
    yield* Time.pass(0)
    const status = yield* provider.status
    expect(inspect(status, { depth: Infinity, showHidden: true }) + JSON.stringify(status)).not.toContain("secret")
  })
})

const client = NutritionAdvisor.make({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  refresh: { background: false }
})

describe("a search", () => {
  simulated("fails with the rate limit of the token route and its time, and waits for it", function*(simulator) {
    yield* simulator.respondNext("token", { status: 429, headers: { "retry-after": "30" } })
    const { search } = yield* client
    const first = yield* Effect.flip(search("oats"))
    yield* Time.pass("29 seconds")
    const second = yield* Effect.flip(search("oats"))
    const { exchanges } = yield* simulator.counters
    expect([first, second]).toMatchObject(
      Arr.replicate({ _tag: "TooManyRequests", operation: "token", retryAfter: 30 }, 2)
    )
    expect(exchanges).toBe(1)
  })

  simulated(
    "ends in Forbidden about the key, without a renewal, when the token route answers 403",
    function*(simulator) {
      yield* simulator.respondAlways("token", { status: 403 })
      const { search } = yield* client
      const errors = yield* Effect.all(Effect.replicate(Effect.flip(search("oats")), 5))
      expect(errors).toMatchObject(
        Arr.replicate({ _tag: "Forbidden", operation: "token", reason: "KeyRejected", status: 403 }, 5)
      )
      const { exchanges, searches } = yield* simulator.counters
      expect([exchanges, searches]).toEqual([1, 0])
    }
  )
})
