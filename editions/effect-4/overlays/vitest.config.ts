// Vitest 5 names the settings of its workers otherwise, and tests get a TestClock and properties of ours.
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export const config = defineConfig({
  resolve: {
    alias: [
      { find: /^effect\/testing\/TestClock$/, replacement: file("./test/doubles/TestClock.ts") },
      { find: /^@effect\/vitest$/, replacement: file("./test/doubles/vitest.ts") },
      { find: /^effect-nutrition-advisor$/, replacement: file("./src/index.ts") },
      { find: /^effect-nutrition-advisor\/(promise|redis|testing|undici)$/, replacement: file("./src/$1/index.ts") },
      { find: /^effect-nutrition-advisor\/(.+)$/, replacement: file("./src/$1.ts") }
    ]
  },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    server: { deps: { inline: ["@effect/vitest"] } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    silent: "passed-only",
    maxWorkers: 2
  }
})

export { config as default }
