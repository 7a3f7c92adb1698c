/** `ROOM=token npm run mutate`: the mutants of one room, since those of all take hours. vitest.mutate.config.ts has its tests. */
const files = {
  token: ["src/{AccessToken,RefreshPolicy,TokenProvider,TokenStore}.ts", "src/internal/token/*.ts"],
  request: ["src/internal/request/*.ts"],
  exchange: ["src/internal/exchange/*.ts"],
  http: ["src/internal/http/*.ts"],
  shared: ["src/internal/shared/*.ts"]
}

const room = process.env.ROOM ?? ""

if (!Object.hasOwn(files, room)) throw new Error(`ROOM is one of ${Object.keys(files).join(", ")}`)

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
const config = {
  testRunner: "vitest",
  vitest: { configFile: "vitest.mutate.config.ts" },
  mutate: files[room],
  ignorePatterns: ["dist", "bench"],
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 10_000,
  disableTypeChecks: false,
  reporters: ["clear-text", "progress", "json"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `reports/mutation-${room}.json` },
  thresholds: { break: 90 }
}

export { config as default }
