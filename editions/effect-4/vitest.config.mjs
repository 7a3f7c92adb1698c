import { defineConfig } from "vitest/config"

export const config = defineConfig({ test: { include: ["codemod/*.test.mjs", "mixed/*.test.mjs"] } })

export { config as default }
