import { setImmediate } from "node:timers/promises"
import { addEqualityTesters } from "@effect/vitest"
import { Equal, FastCheck, Redacted } from "effect"
import { afterEach, expect } from "vitest"

/** Compares what is in two Redacted values. They have no fields, so all of them are equal for the testers of Effect. */
expect.addEqualityTesters([
  (one, other) => Redacted.isRedacted(one) && Redacted.isRedacted(other) ? Equal.equals(one, other) : undefined
])

addEqualityTesters()

/** Properties draw the same values in each run: a rare draw of one test must not stop a change of other code. `SEED=2` draws others. */
FastCheck.configureGlobal({ seed: Number(process.env["SEED"] ?? 1) })

/** On TestClock a whole file runs in one turn of the event loop. vitest ends a run whose messages do not pass for a minute. */
afterEach(() => setImmediate())
