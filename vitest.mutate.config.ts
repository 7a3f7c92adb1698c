import { config as base } from "./vitest.config.js"

/** The tests of a token's life alone: a mutant is run against each test that reaches it, hundreds of times. */
const config = {
  ...base,
  test: {
    ...base.test,
    include: [
      "test/AccessToken.test.ts",
      "test/RefreshPolicy.test.ts",
      "test/TokenProvider.{clock,flight,gate,refresh,renewal}.test.ts",
      "test/TokenStore.test.ts"
    ]
  }
}

export { config as default }
