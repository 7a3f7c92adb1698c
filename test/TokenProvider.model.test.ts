import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "./model/histories.js"

describe("a provider in any history", () => {
  it.each([1, 7, 2_048])(
    "sends no expired token, exchanges once at a time, answers every caller and closes (yielding after %i operations)",
    (operations) => expectNoViolation(operations, 10)
  )

  // Two renewals in 15 s. The rejected token is gone after each, so up to three more exchanges follow that fail, 1, 2 and 4 s apart.
  it("exchanges at most 168 times in 5 minutes of two searches a second", () => expectFewExchanges(300, 168, 2))
})
