import { describe, expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { vi } from "vitest"
import { testLive } from "../../support/doubles/arranged.js"
import * as Program from "../Program.js"

testLive(
  "UndiciClient: without @effect/platform-node, it fails with a ConfigurationError that says what to install",
  function*() {
    const without = Program.withoutPackage("@effect/platform-node")
    const { code, stderr, stdout } = yield* Program.run("test/system/undici/missing.ts", [], {}, without)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(/^ConfigurationError: .*UndiciClient: npm install @effect\/platform-node@\^0\.108\.\n$/)
  }
)

describe("UndiciClient: undici in a bundle", () => {
  const loaded = (module: () => Record<string, unknown>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => vi.doMock("@effect/platform-node/Undici", module)),
      () => Effect.scoped(Effect.either(UndiciClient.make())),
      () => Effect.sync(() => vi.doUnmock("@effect/platform-node/Undici"))
    )

  it.effect("undici is found if only `default` has its exports, as in a Rollup bundle", () =>
    Effect.gen(function*() {
      const undici = yield* Effect.promise(() => vi.importActual("@effect/platform-node/Undici"))
      expect(Either.isRight(yield* loaded(() => ({ default: undici })))).toBe(true)
    }))

  it.effect("if undici fails to load, the error has the reason", () =>
    Effect.gen(function*() {
      const failed = yield* loaded(() => {
        throw new Error()
      })
      expect(failed).toMatchObject({
        left: { field: "httpClient", rule: expect.stringMatching(/failed to load \(Error: .*bundle/) }
      })
    }))
})
