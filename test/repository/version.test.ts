import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import { version } from "../../src/internal/settings/version.js"

const manifest: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"))

it("version: src/internal/settings/version.ts has the version of package.json, formatted as `npm version` writes it", () => {
  expect(version).toBe(manifest.version)
})
