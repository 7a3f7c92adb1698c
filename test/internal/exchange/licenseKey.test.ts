import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Ref } from "effect"
import { NutritionAdvisor, SharedTokenCache, TokenIssuer } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as LicenseKey from "../../../src/internal/exchange/licenseKey.js"
import * as Issuer from "../../doubles/IssuerDouble.js"

describe("a key that is read", () => {
  it.effect.each([
    ["what was read is blank", Redacted.make(" ")],
    ["what was read is not Redacted: wrap it in Redacted.make", Object("a-key")]
  ])("is checked: %s", ([detail, key]) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(LicenseKey.read(Effect.succeed(key)))).toMatchObject({
        _tag: "LicenseKeyUnavailable",
        detail
      })
    }))
})

describe("an effect that reads the key", () => {
  it.effect.each([new Error("vault said key-7f3a"), "key-7f3a", null])(
    "that fails with what is no LicenseKeyUnavailable shows nothing of it (case %#)",
    (failure) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(LicenseKey.read(Effect.fail(failure as never)))
        expect(error).toMatchObject({
          _tag: "LicenseKeyUnavailable",
          detail: "the effect that reads it failed with another error"
        })
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("7f3a")
      })
  )
})

describe("the key of an exchange", () => {
  const service = { baseUrl: Simulator.baseUrl, refresh: { background: false } }

  it.effect.each<
    [string, (licenseKey: TokenIssuer.Options["licenseKey"]) => ReturnType<typeof NutritionAdvisor.layer>]
  >([
    ["without sharing", (licenseKey) => NutritionAdvisor.layer({ ...service, licenseKey })],
    [
      "with sharing",
      (licenseKey) =>
        Layer.provide(NutritionAdvisor.layerShared({ ...service, licenseKey }), SharedTokenCache.layerMemory)
    ]
  ])("is read once, %s", ([, layer]) =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      const reads = yield* Ref.make(0)
      const licenseKey = Effect.as(Ref.update(reads, (count) => count + 1), Simulator.licenseKey)
      yield* Effect.gen(function*() {
        yield* NutritionAdvisor.search("oats")
        yield* simulator.revoke
        yield* NutritionAdvisor.search("oats")
      }).pipe(Effect.provide(layer(licenseKey)))
      const { exchanges } = yield* simulator.counters
      expect({ exchanges, reads: yield* Ref.get(reads) }).toEqual({ exchanges: 2, reads: 2 })
    }).pipe(Effect.provide(Simulator.layerHttpClient())))

  it.effect("is the one that an issuer around this one has read, where there is one", () =>
    Effect.gen(function*() {
      const { issue } = yield* TokenIssuer.make({ ...service, licenseKey: Effect.dieMessage("it is not to be read") })
      const simulator = yield* Simulator.Simulator
      yield* issue({ ...Issuer.missing, licenseKey: Simulator.licenseKey })
      expect((yield* simulator.counters).tokensIssued).toBe(1)
      expect(yield* Effect.flip(issue({ ...Issuer.missing, licenseKey: Redacted.make(" ") }))).toMatchObject({
        _tag: "LicenseKeyUnavailable"
      })
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})
