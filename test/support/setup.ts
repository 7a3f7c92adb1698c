import { setImmediate } from "node:timers/promises"
import { addEqualityTesters } from "@effect/vitest"
import { FastCheck } from "effect"
import { afterEach } from "vitest"

addEqualityTesters()

/** Properties draw the same values in each run: a rare draw of one test must not stop a change of other code. `SEED=2` draws others. */
FastCheck.configureGlobal({ seed: Number(process.env["SEED"] ?? 1) })

/** On TestClock a whole file runs in one turn of the event loop. vitest ends a run whose messages do not pass for a minute. */
afterEach(() => setImmediate())
