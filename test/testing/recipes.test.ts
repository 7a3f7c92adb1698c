import { describe, expect, it } from "vitest"
import { makeImporter, programsOf } from "../readme/importBlock.js"

const importBlock = makeImporter()

const recipes = programsOf("docs/testing.md")

/** Each recipe is a test file: what it tests is tested here, under its line in docs/testing.md. */
describe.each(recipes)("docs/testing.md:$line", async (block) => {
  await importBlock(block)
})

const withVitest = programsOf("docs/from-async-await.md").filter(({ code }) => code.includes("from \"vitest\""))

describe.each(withVitest)("docs/from-async-await.md:$line", async (block) => {
  await importBlock(block)
})

describe("docs/from-async-await.md", () => {
  it("has a test for vitest", () => {
    expect(withVitest).toHaveLength(1)
  })
})

describe("docs/testing.md", () => {
  it("has a test in each of its recipes", () => {
    expect(recipes.filter(({ code }) => !/^it\.(?:effect|live|scoped)/m.test(code))).toEqual([])
    expect(recipes.length).toBeGreaterThan(4)
  })
})
