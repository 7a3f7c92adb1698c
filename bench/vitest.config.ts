import { defineConfig } from "vitest/config"

const config = defineConfig({ test: { include: ["*.test.ts"] } })

export { config as default }
