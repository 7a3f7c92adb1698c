import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, HashMap, Logger, LogLevel, Option, Random } from "effect"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { cold, fresh, issuer, provider, store } from "../support/doubles/situations.js"
import * as Time from "../support/doubles/Time.js"

const windowStart = 900_000
const expiry = 1_000_000

const { unavailable } = Issuer

describe("backoff: retryAt", () => {
  it.effect("retryAt is in whole milliseconds, in the status and in the log", () => {
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
      const { retryAt } = Option.getOrThrow((yield* provider.status).lastFailure)
      expect([retryAt, told]).toEqual([976, [976]])
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

describe("backoff", () => {
  cold("a defect starts the backoff, like an error", function*() {
    yield* issuer.respondAlways(Effect.dieMessage("the issuer is broken"))
    const exits = yield* Effect.all(Effect.replicate(Effect.exit(provider.get), 10))
    expect([exits.every((exit) => Exit.isFailure(exit) && Cause.isDie(exit.cause)), yield* issuer.calls])
      .toEqual([true, 1])
  })

  fresh("an invalidation does not end the backoff", function*() {
    yield* issuer.respondAlways(Effect.fail(unavailable))
    yield* Time.set(windowStart)
    yield* store.invalidate(yield* provider.get)
    yield* Time.pass(0)
    expect([yield* Effect.flip(provider.get), yield* issuer.calls]).toEqual([unavailable, 2])
  })
})

describe("TokenProvider.status", () => {
  cold("the state is none before the first exchange", function*() {
    expect(yield* provider.status).toEqual({ state: "none", expiresAt: Option.none(), lastFailure: Option.none() })
  })

  fresh("the state is that of the current token", function*() {
    yield* Time.set(windowStart)
    expect(yield* provider.status)
      .toEqual({ state: "stale", expiresAt: Option.some(expiry), lastFailure: Option.none() })
  })

  fresh("reading the status does not start an exchange", function*() {
    yield* Time.set(expiry)
    yield* Effect.repeatN(provider.status, 10)
    yield* Time.pass(0)
    expect(yield* issuer.calls).toBe(1)
  })
})
