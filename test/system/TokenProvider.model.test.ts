import { describe, it } from "@effect/vitest"
import { expectFewExchanges, expectNoViolation } from "../support/model/histories.js"

describe("a provider in any history", { timeout: 900_000 }, () => {
  it.each([1, 7, 13, 2_048])(
    "sends no expired token, exchanges once at a time, answers every caller and closes (yielding after %i operations)",
    (operations) => expectNoViolation(operations, 250)
  )

  it("exchanges at most 490 times in an hour of two searches a second", () => expectFewExchanges(3_600, 490, 20))
})
