import { setImmediate } from "node:timers/promises"
import { addEqualityTesters, afterEach, expect, vi } from "@effect/vitest"
import { Equal, FastCheck, Redacted } from "effect"

/** Compares the contents of Redacted values. They have no fields, so Effect's testers would consider all of them equal. */
expect.addEqualityTesters([
  (one, other) => Redacted.isRedacted(one) && Redacted.isRedacted(other) ? Equal.equals(one, other) : undefined
])

addEqualityTesters()

/** Properties use the same values in each run, so that a rare failure can't block an unrelated change. `SEED=2` uses other values. */
FastCheck.configureGlobal({ seed: Number(process.env["SEED"] ?? 1) })

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  // With TestClock, a whole file runs in one turn of the event loop, and vitest aborts if its messages are blocked for a minute.
  return setImmediate()
})
