import { expect, vi } from "@effect/vitest"
import { Effect, Either } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { test } from "../../support/doubles/arranged.js"

const madeWith = (undici: () => Record<string, unknown>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.doMock("@effect/platform-node/Undici", undici)),
    () => Effect.scoped(Effect.either(UndiciClient.make())),
    () => Effect.sync(() => vi.doUnmock("@effect/platform-node/Undici"))
  )

test("UndiciClient: undici is found if only `default` has its exports, as in a Rollup bundle", function*() {
  const undici = yield* Effect.promise(() => vi.importActual("@effect/platform-node/Undici"))
  expect(Either.isRight(yield* madeWith(() => ({ default: undici })))).toBe(true)
})

test("UndiciClient: if undici fails to load, the error has the reason", function*() {
  const made = yield* madeWith(() => {
    throw new Error()
  })
  expect(made).toMatchObject({
    left: { field: "httpClient", rule: expect.stringMatching(/failed to load \(Error: .*bundle/) }
  })
})

test("UndiciClient: if undici has an empty Agent, as in Bun, the error names another client", function*() {
  const made = yield* madeWith(() => ({
    Agent: class {
      closed = false
    }
  }))
  expect(made).toMatchObject({
    left: { field: "httpClient", rule: expect.stringContaining("use FetchHttpClient.layer") }
  })
})
