import { config as base } from "./vitest.config.js"

/** The tests of what Stryker changes, without those that take long: a mutant is run against each test that reaches it, hundreds of times. */
const config = {
  ...base,
  test: {
    ...base.test,
    include: [
      "test/{AccessToken,RefreshPolicy,SharedTokenIssuer,TokenIssuer,TokenStore}.test.ts",
      "test/NutritionAdvisor{,.closing,.shared}.test.ts",
      "test/TokenProvider.{backoff,clock,flight,refresh,renewal}.test.ts",
      "test/internal/**/*.test.ts"
    ]
  }
}

export { config as default }
