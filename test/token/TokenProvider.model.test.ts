import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "../support/model/histories.js"

describe("TokenProvider in random histories", () => {
  it.each([1, 7, 2_048])(
    "it sends no expired token, runs one exchange at a time, responds to every caller and closes (yielding after %i operations)",
    (operations) => expectNoViolation(operations, 10)
  )

  // Two renewals in 15 s, and a few exchanges before the first token.
  it("it makes at most 48 exchanges in 5 minutes of two searches a second", () => expectFewExchanges(300, 48, 2))
})
