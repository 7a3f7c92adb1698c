import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

/** What a caller in JavaScript can write. */
const optionsOf = (untyped: Record<string, unknown>): NutritionAdvisor.Options => ({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  ...untyped
})

const advisor = (untyped: Record<string, unknown> = {}) =>
  NutritionAdvisor.layer(optionsOf(untyped)).pipe(Layer.provideMerge(Simulator.layerHttpClient()))

const untyped =
  (search: NutritionAdvisor.Service["search"]) =>
  (...args: ReadonlyArray<unknown>): ReturnType<NutritionAdvisor.Service["search"]> =>
    Reflect.apply(search, undefined, args)

describe("a setting of the wrong type", () => {
  it.effect.each<readonly [string, unknown]>([
    ["baseUrl", 5],
    ["baseUrl", null],
    ["licenseKey", 12_345_678],
    ["licenseKey", "a-key-without-redacted"],
    ["licenseKey", null],
    ["licenseKey", Redacted.make(12_345_678)],
    ["licenseKey", Redacted.make(undefined)],
    ["tokenRoute", 5],
    ["tokenRoute", null],
    ["serviceId", 4711],
    ["serviceId", null],
    ["serviceId", Redacted.make(4711)],
    ["serviceId", {}],
    ["serviceIdHeader", null],
    ["serviceIdHeader", 5],
    ["rejectedStatuses", 403],
    ["rejectedStatuses", null],
    ["rejectedStatuses", "403"],
    ["requestTimeout", "soon"],
    ["tokenTimeout", {}],
    ["maxResponseBytes", "16"],
    ["maxResponseBytes", null]
  ])("is a ConfigurationError that names it: %s, case %#", ([field, value]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(advisor({ [field]: value }))))
      expect(error).toMatchObject({ _tag: "ConfigurationError", field })
    }))
})

describe("a search of the wrong type", () => {
  it.effect.each([undefined, null, 5, {}, ["apple"], Redacted.make("apple")])(
    "is a BadRequest that was not sent: %j",
    (term) =>
      Effect.gen(function*() {
        const { search } = yield* NutritionAdvisor.NutritionAdvisor
        const error = yield* Effect.flip(untyped(search)(term))
        expect([error._tag, error.message]).toEqual([
          "BadRequest",
          "The search was not sent (the search term is no text). Correct the request."
        ])
      }).pipe(Effect.provide(advisor()))
  )

  it.effect.each([null, undefined, { headers: null }, { urlParams: null }, { headers: undefined }])(
    "takes %j for no further options",
    (options) =>
      Effect.gen(function*() {
        const { search } = yield* NutritionAdvisor.NutritionAdvisor
        const simulator = yield* Simulator.Simulator
        yield* untyped(search)("apple", options)
        expect((yield* simulator.counters).searches).toBe(1)
      }).pipe(Effect.provide(advisor()))
  )
})

describe("a license key effect that gives what can't be a key", () => {
  it.effect.each([undefined, null, 12_345_678, {}, ["key"]])(
    "ends the search as LicenseKeyUnavailable, and shows it in the status: %j",
    (value) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
        const { status } = yield* TokenProvider.TokenProvider
        expect(error._tag).toBe("LicenseKeyUnavailable")
        expect((yield* status).lastFailure).toMatchObject({ value: { error } })
      }).pipe(Effect.provide(advisor({ licenseKey: Effect.sync(() => Redacted.make(value)) })))
  )

  it.effect("stays a defect where the effect itself dies, and shows nothing of what it died of", () =>
    Effect.gen(function*() {
      const bug = new TypeError("a bug of the user's")
      const cause = yield* NutritionAdvisor.search("apple").pipe(
        Effect.sandbox,
        Effect.flip,
        Effect.provide(advisor({ licenseKey: Effect.die(bug) }))
      )
      expect([...Cause.defects(cause)]).toMatchObject([{ message: expect.stringContaining("is not shown") }])
      expect(inspect(cause, { depth: 9, showHidden: true })).not.toContain(bug.message)
    }))
})
