import { describe, expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { vi } from "vitest"
import { testLive } from "../../support/doubles/arranged.js"
import * as Program from "../Program.js"

testLive("a client without @effect/platform-node ends in a ConfigurationError that says what to install", function*() {
  const without = Program.withoutPackage("@effect/platform-node")
  const { code, stderr, stdout } = yield* Program.run("test/system/undici/missing.ts", [], {}, without)
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(/^ConfigurationError: .*UndiciClient: npm install @effect\/platform-node@\^0\.108\.\n$/)
})

describe("undici in a bundle", () => {
  const loaded = (module: () => Record<string, unknown>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => vi.doMock("@effect/platform-node/Undici", module)),
      () => Effect.scoped(Effect.either(UndiciClient.make())),
      () => Effect.sync(() => vi.doUnmock("@effect/platform-node/Undici"))
    )

  it.effect("is found where its names are in `default` alone, as Rollup leaves them", () =>
    Effect.gen(function*() {
      const undici = yield* Effect.promise(() => vi.importActual("@effect/platform-node/Undici"))
      expect(Either.isRight(yield* loaded(() => ({ default: undici })))).toBe(true)
    }))

  it.effect("that does not load is told with the reason", () =>
    Effect.gen(function*() {
      const failed = yield* loaded(() => {
        throw new Error()
      })
      expect(failed).toMatchObject({
        left: { field: "httpClient", rule: expect.stringMatching(/does not load \(Error: .*bundle/) }
      })
    }))
})
