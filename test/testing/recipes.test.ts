import { describe, expect, it } from "vitest"
import { importBlock, programsOf } from "../support/documents/blocks.js"

const recipes = programsOf("docs/testing.md")

/** Each recipe is a test file. Its tests run here, under its line in docs/testing.md. */
describe.each(recipes)("docs/testing.md:$line", async (block) => {
  await importBlock(block)
})

const withVitest = programsOf("docs/from-async-await.md").filter(({ code }) => code.includes("from \"vitest\""))

describe.each(withVitest)("docs/from-async-await.md:$line", async (block) => {
  await importBlock(block)
})

it("docs/from-async-await.md: one block is a test for vitest", () => {
  expect(withVitest).toHaveLength(1)
})

it("docs/testing.md: each block is a file of tests", () => {
  expect(recipes.filter(({ code }) => !/^it(?:\.effect|\.live|\.scoped|\()/m.test(code))).toEqual([])
  expect(recipes.length).toBeGreaterThan(4)
})
