import { readFile } from "node:fs/promises"
import { describe, expect, it } from "@effect/vitest"
import { mutations } from "./mutations.js"

describe("mutations of the boundary", () => {
  for (const { file, find, name } of mutations) {
    it(`have one place in the source: ${name}`, async () => {
      const source = await readFile(new URL(`../../${file}`, import.meta.url), "utf8")
      expect(source.split(find).length - 1).toBe(1)
    })
  }
})
