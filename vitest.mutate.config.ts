import { config as base } from "./vitest.config.js"

/** The tests of each room, without those that take long: a mutant is run against each test that reaches it, hundreds of times. */
const tests: Readonly<Record<string, ReadonlyArray<string>>> = {
  token: [
    "test/{AccessToken,RefreshPolicy,TokenStore}.test.ts",
    "test/TokenProvider.{backoff,clock,flight,outage,parts,refresh,renewal}.test.ts",
    "test/SharedTokenIssuer.test.ts",
    "test/undici/UndiciClient.queue.test.ts",
    "test/internal/token/*.test.ts",
    "test/telemetry/*.test.ts"
  ],
  request: [
    "test/NutritionAdvisor{,.closing,.context,.environment,.observed,.shared,.standardSchema,.untyped,.userAgent}.test.ts",
    "test/{SearchCache,TokenProvider.renewal}.test.ts",
    "test/undici/UndiciClient.queue.test.ts",
    "test/internal/request/*.test.ts",
    "test/telemetry/{metrics,spans}.test.ts"
  ],
  exchange: [
    "test/{TokenIssuer,TokenProvider.parts,SharedTokenIssuer}.test.ts",
    "test/NutritionAdvisor.{shared,untyped}.test.ts",
    "test/internal/exchange/*.test.ts",
    "test/telemetry/spans.test.ts"
  ],
  http: [
    "test/NutritionAdvisor{,.clients,.closing,.environment,.observed}.test.ts",
    "test/{TokenIssuer,boundaries}.test.ts",
    "test/undici/UndiciClient.responses.test.ts",
    "test/internal/http/*.test.ts",
    "test/internal/request/build.test.ts"
  ],
  shared: ["test/SharedTokenIssuer.test.ts", "test/internal/shared/*.test.ts"]
}

const config = {
  ...base,
  test: { ...base.test, include: [...tests[process.env["ROOM"] ?? ""] ?? []] }
}

export { config as default }
