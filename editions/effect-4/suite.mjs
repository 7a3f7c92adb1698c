/** The tests that are translated and run, with the doubles that they import. Mixed with Effect 3 is mixed/mixed.test.mjs. */
export const suite = [
  // State and model of the token.
  "test/token/state.test.ts",
  "test/token/TokenProvider.model.test.ts",
  // Conformance.
  "test/request/NutritionAdvisor.test.ts",
  "test/http/leaks.test.ts",
  "test/promise/Client.test.ts",
  "test/promise/calls.test.ts",
  "test/promise/createClient.test.ts",
  "test/promise/logger.test.ts",
  "test/promise/fetch.test.ts"
]

/** What stands on packages for Effect 3 alone. */
export const leftOut = ["src/ai/NutritionAdvisorTools.ts"]
