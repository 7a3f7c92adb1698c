import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export const config = defineConfig({
  resolve: {
    alias: [
      { find: /^effect-nutrition-advisor$/, replacement: source("index.ts") },
      { find: /^effect-nutrition-advisor\/(ai|promise|redis|testing|undici)$/, replacement: source("$1/index.ts") },
      { find: /^effect-nutrition-advisor\/(.+)$/, replacement: source("$1.ts") }
    ]
  },
  test: {
    include: ["test/**/*.test.ts"],
    isolate: false,
    poolOptions: { forks: { minForks: 1, maxForks: availableParallelism() } },
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    silent: "passed-only"
  }
})

export { config as default }
