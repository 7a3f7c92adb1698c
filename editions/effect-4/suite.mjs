/** The tests that are translated and run, together with the doubles that they import. */
export const suite = [
  // The state of a token, and its model.
  "test/token/state.test.ts",
  "test/token/TokenProvider.model.test.ts",
  // The behavior of the client.
  "test/request/NutritionAdvisor.test.ts",
  "test/http/boundaries.test.ts",
  "test/http/leaks.test.ts",
  "test/promise/Client.test.ts",
  "test/promise/callerContext.test.ts",
  "test/promise/calls.test.ts",
  "test/promise/createClient.test.ts",
  "test/promise/logger.test.ts",
  "test/promise/fetch.test.ts"
]

/** Sources that need packages that exist only for Effect 3. */
export const leftOut = ["src/ai/NutritionAdvisorTools.ts"]
