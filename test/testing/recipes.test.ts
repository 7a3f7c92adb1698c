import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Simulator } from "effect-nutrition-advisor/testing"
import { afterAll, describe, expect, it } from "vitest"
import { blocksOf } from "../readme/blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const text = readFileSync(join(repository, "docs/testing.md"), "utf8")

const recipes = blocksOf(text).filter(({ language }) => language === "ts")

/** Outside of the repository, so that neither lint nor type-check of another run meets it. */
const folder = mkdtempSync(join(tmpdir(), "recipes-"))

symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "junction")

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Each recipe is a test file: what it tests is tested here, under its line in docs/testing.md. */
describe.each(recipes)("docs/testing.md:$line", async ({ code, line }) => {
  const file = join(folder, String(line), "recipe.ts")
  mkdirSync(join(folder, String(line)))
  writeFileSync(file, code)
  await import(/* @vite-ignore */ file)
})

const withVitest = blocksOf(readFileSync(join(repository, "docs/from-async-await.md"), "utf8"))
  .filter(({ code, language }) => language === "ts" && code.includes("from \"vitest\""))

describe.each(withVitest)("docs/from-async-await.md:$line", async ({ code, line }) => {
  const file = join(folder, "from-async-await", String(line), "recipe.ts")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, code)
  await import(/* @vite-ignore */ file)
})

describe("docs/from-async-await.md", () => {
  it("has a test for vitest", () => {
    expect(withVitest).toHaveLength(1)
  })
})

describe("docs/testing.md", () => {
  it("has a test in each of its recipes", () => {
    expect(recipes.filter(({ code }) => !/^it\.(?:effect|live|scoped)/m.test(code))).toEqual([])
    expect(recipes.length).toBeGreaterThan(8)
  })

  const tables = text.split("\n").filter((line) => line.startsWith("| `")).flatMap((line) =>
    [...(line.split(" | ")[0] ?? "").matchAll(/`([a-z-]+)`/g)].map(([, name = ""]) => name)
  )

  it("lists every fault in its tables", () => {
    const { request, search, token } = Simulator.faults
    expect(new Set(tables)).toEqual(new Set([...token, ...search, ...request]))
  })
})
