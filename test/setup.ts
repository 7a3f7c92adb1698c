import { setImmediate } from "node:timers/promises"
import { addEqualityTesters } from "@effect/vitest"
import { afterEach } from "vitest"

addEqualityTesters()

/** On TestClock a whole file runs in one turn of the event loop. vitest ends a run whose messages do not pass for a minute. */
afterEach(() => setImmediate())
