import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "../support/model/histories.js"

describe("TokenProvider in random histories", { timeout: 900_000 }, () => {
  it.each([1, 7, 13, 2_048])(
    "all invariants hold (operations before a fiber yields: %i)",
    (operations) => expectNoViolation(operations, 250)
  )

  it("two searches per second cost at most 490 exchanges in an hour", () => expectFewExchanges(3_600, 490, 20))
})
