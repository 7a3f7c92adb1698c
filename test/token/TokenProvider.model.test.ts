import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "../support/model/histories.js"

describe("TokenProvider in random histories", () => {
  it.each([1, 7, 2_048])(
    "all invariants hold (operations before a fiber yields: %i)",
    (operations) => expectNoViolation(operations, 10)
  )

  // Two renewals in 15 s, and a few exchanges before the first token.
  it("two searches per second cost at most 48 exchanges in 5 minutes", () => expectFewExchanges(300, 48, 2))
})
