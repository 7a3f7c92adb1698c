import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, HashMap, Layer, Logger, LogLevel, Random, Scope } from "effect"
import { NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as Time from "./doubles/Time.js"

const windowStart = 900_000

const { unavailable } = Issuer

const keyRejected = new NutritionAdvisorError.Forbidden({ operation: "token", status: 403, reason: "KeyRejected" })

interface Line {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** What is logged at the default level while the effect runs. */
const logged = <A, E, R>(
  effect: (lines: ReadonlyArray<Line>) => Effect.Effect<A, E, R>
) => {
  const lines: Array<Line> = []
  const logger = Logger.make(({ annotations, logLevel, message }) => {
    lines.push({
      level: logLevel.label,
      message: String(message),
      annotations: Object.fromEntries(HashMap.toEntries(annotations))
    })
  })
  return effect(lines).pipe(
    Effect.provide(Issuer.layerOnDemand),
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Effect.withRandom(Random.fixed([0]))
  )
}

const levelsOf = (lines: ReadonlyArray<Line>) => lines.map(({ level }) => level)

const tryFor = (seconds: number) =>
  Effect.flatMap(
    TokenProvider.TokenProvider,
    ({ get }) => Effect.repeatN(Effect.zipRight(Effect.exit(get), Time.pass("1 second")), seconds - 1)
  )

describe("a failed exchange", () => {
  it.effect("is a warning that says what failed and when the next try is", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.respondAlways(Effect.fail(unavailable))
        yield* Effect.exit(provider.get)
        expect(lines).toEqual([{
          level: "WARN",
          message:
            `The license key could not be exchanged. ${unavailable.message} There is no usable token; the next ` +
            "try is not before 1970-01-01T00:00:01.000Z.",
          annotations: { error: "ServerError", status: 503, retryAt: 1_000 }
        }])
      })
    ))

  it.effect.each([
    { cause: Effect.fail(keyRejected), annotations: { error: "Forbidden", status: 403, reason: "KeyRejected" } },
    {
      cause: Effect.fail(new NutritionAdvisorError.TransportError({ operation: "token", reason: "Timeout" })),
      annotations: { error: "TransportError", reason: "Timeout" }
    },
    {
      cause: Effect.fail(new NutritionAdvisorError.MissingServiceId({ operation: "token" })),
      annotations: { error: "MissingServiceId" }
    },
    { cause: Effect.die("a bug"), annotations: { error: "Defect" } },
    { cause: Effect.interrupt, annotations: { error: "TransportError", reason: "Aborted" } }
  ])(
    "names what tells it from others: $annotations",
    ({ annotations, cause }) =>
      logged((lines) =>
        Effect.gen(function*() {
          const { issuer, provider } = yield* Issuer.services
          yield* issuer.respondAlways(cause)
          yield* Effect.exit(provider.get)
          expect(lines.map((line) => line.annotations)).toEqual([{ ...annotations, retryAt: 1_000 }])
        })
      )
  )

  it.effect("is told as a defect where the issuer has a bug", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.respondAlways(Effect.die("a bug"))
        yield* Effect.exit(provider.get)
        expect(lines.map(({ message }) => message)).toEqual([
          "The license key could not be exchanged. The exchange ended in a defect. There is no usable token; the next " +
          "try is not before 1970-01-01T00:00:01.000Z."
        ])
      })
    ))

  it.effect("leaves no usable token once the last one has expired", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* provider.get
        yield* Time.set(1_000_000)
        yield* issuer.respondAlways(Effect.fail(unavailable))
        yield* Effect.exit(provider.get)
        expect(lines.map(({ message }) => message.includes("There is no usable token"))).toEqual([true])
      })
    ))

  it.effect("is one warning a minute, however many there are", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer } = yield* Issuer.services
        yield* issuer.respondAlways(Effect.fail(unavailable))
        yield* tryFor(60)
        expect([yield* issuer.calls, levelsOf(lines)]).toEqual([6, ["WARN"]])
        yield* tryFor(60)
        expect([yield* issuer.calls, levelsOf(lines)]).toEqual([7, ["WARN", "WARN"]])
      })
    ))

  it.effect("is another warning at once where it is of another kind", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer } = yield* Issuer.services
        yield* issuer.respondNext(Effect.fail(unavailable))
        yield* issuer.respondAlways(Effect.fail(keyRejected))
        yield* tryFor(2)
        expect(lines.map(({ annotations }) => annotations.error)).toEqual(["ServerError", "Forbidden"])
      })
    ))

  it.effect("is a warning too behind a token that still holds", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* provider.get
        yield* issuer.respondAlways(Effect.fail(unavailable))
        yield* Time.set(windowStart)
        yield* provider.get
        yield* Time.pass(0)
        expect(
          lines.map(({ level, message }) => [level, message.includes("The current token is used until it expires")])
        )
          .toEqual([["WARN", true]])
      })
    ))

  it.effect("is no warning where the layer is closed, which cuts it off", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(Issuer.layerOnDemand), scope)
        yield* Effect.gen(function*() {
          const { issuer, provider } = yield* Issuer.services
          yield* issuer.setLatency("1 minute")
          yield* Effect.fork(provider.get)
          yield* Time.pass(0)
        }).pipe(Effect.provide(context))
        yield* Scope.close(scope, Exit.void)
        expect(lines).toEqual([])
      })
    ))

  it.effect("leaves its line at debug where it was", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.respondAlways(Effect.fail(unavailable))
        yield* Effect.exit(provider.get)
        expect(lines.map(({ level, message }) => `${level} ${message}`)).toContain("DEBUG The exchange failed")
      }).pipe(Effect.provide(Layer.fresh(Issuer.layerOnDemand)), Logger.withMinimumLogLevel(LogLevel.Debug))
    ))
})

describe("the first exchange that succeeds after a warning", () => {
  it.effect("is one line that says how long the failures lasted", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { issuer, provider } = yield* Issuer.services
        yield* issuer.respondNext(...Array.from({ length: 3 }, () => Effect.fail(unavailable)))
        yield* tryFor(8)
        yield* provider.get
        expect([yield* issuer.calls, lines.slice(1)]).toEqual([4, [{
          level: "INFO",
          message: "The license key can be exchanged again. It had failed for 7s.",
          annotations: {}
        }]])
      })
    ))

  it.effect("is no line where nothing had failed", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const { provider } = yield* Issuer.services
        yield* provider.get
        expect(lines).toEqual([])
      })
    ))
})
