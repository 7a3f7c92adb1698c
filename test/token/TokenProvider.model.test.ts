import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "../support/model/histories.js"

describe("a provider in any history", () => {
  it.each([1, 7, 2_048])(
    "sends no expired token, exchanges once at a time, answers every caller and closes (yielding after %i operations)",
    (operations) => expectNoViolation(operations, 10)
  )

  // Two renewals in 15 s, and a few exchanges before the first token.
  it("exchanges at most 48 times in 5 minutes of two searches a second", () => expectFewExchanges(300, 48, 2))
})
