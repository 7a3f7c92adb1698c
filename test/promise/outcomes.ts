/** The error of a call, as a value. */
import { inspect } from "node:util"
import { expect } from "@effect/vitest"

export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => expect.fail(`resolved with ${inspect(value)}`), (reason: unknown) => reason)
