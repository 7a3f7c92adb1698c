import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Ref } from "effect"
import * as LicenseKey from "../../../src/internal/exchange/licenseKey.js"

/** A setting that gives another key at each read. */
const rotating = Effect.map(
  Ref.make(0),
  (reads) => Effect.map(Ref.updateAndGet(reads, (reads) => reads + 1), (read) => Redacted.make(`key-${read}`))
)

const readText = (licenseKey: LicenseKey.LicenseKey) => Effect.map(LicenseKey.read(licenseKey), Redacted.value)

const handedOn = Redacted.make("key-handed-on")

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

describe("a key that is handed on", () => {
  it.effect("is taken by whoever has the same setting", () =>
    Effect.gen(function*() {
      const licenseKey = yield* rotating
      expect(yield* LicenseKey.handOn(licenseKey, handedOn)(readText(licenseKey))).toBe("key-handed-on")
    }))

  it.effect("is not taken by one who has another setting", () =>
    Effect.gen(function*() {
      const [licenseKey, other] = yield* Effect.all([rotating, rotating])
      expect(yield* LicenseKey.handOn(licenseKey, handedOn)(readText(other))).toBe("key-1")
    }))

  it.effect("is not taken by what the exchange leaves running", () =>
    Effect.gen(function*() {
      const licenseKey = yield* rotating
      const ended = yield* Effect.makeLatch()
      const left = Effect.zipRight(ended.await, readText(licenseKey))
      const fiber = yield* LicenseKey.handOn(licenseKey, handedOn)(Effect.forkDaemon(left))
      yield* ended.open
      expect(yield* Fiber.join(fiber)).toBe("key-1")
    }))

  it.effect("is not seen by what the key is used for", () =>
    Effect.gen(function*() {
      const licenseKey = yield* rotating
      const seen = LicenseKey.use(licenseKey, (key) =>
        Effect.map(readText(licenseKey), (again) => [Redacted.value(key), again]))
      expect(yield* LicenseKey.handOn(licenseKey, handedOn)(seen)).toEqual(["key-handed-on", "key-1"])
    }))

  it.effect("is in no rendering of the context that it is in", () =>
    Effect.gen(function*() {
      const licenseKey = yield* rotating
      const context = yield* LicenseKey.handOn(licenseKey, handedOn)(Effect.context<never>())
      expect(inspect(context, { depth: null, showHidden: true }) + JSON.stringify(context)).not.toContain("handed-on")
    }))
})
