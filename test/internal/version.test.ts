import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import { version } from "../../src/internal/version.js"

it("the version in the User-Agent is that of package.json", () => {
  const { version: packed }: { readonly version: string } = JSON.parse(readFileSync("package.json", "utf8"))
  expect(version).toBe(packed)
})
