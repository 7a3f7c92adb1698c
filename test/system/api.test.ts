import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { brokenLinksOf } from "../readme/blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const committed = join(repository, "docs", "api")

const script = join(repository, "scripts", "docs.mjs")

const pagesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => [name.replaceAll("\\", "/"), readFileSync(join(folder, name), "utf8")])
  )

const read = (path: string) => {
  const full = join(repository, path)
  return existsSync(full) ? statSync(full).isDirectory() ? "" : readFileSync(full, "utf8") : undefined
}

/** The headings of docgen's groups: "utils" is what has no category. */
const categoriesOf = (page: string) => [...page.matchAll(/^- \[(.+)\]/gm)].map(([, category]) => category)

/** What stands between one heading of an export and the next. */
const exportsOf = (page: string) => page.split(/^(?=## )/m).slice(1)

describe("the API reference", () => {
  const folder = mkdtempSync(join(tmpdir(), "api-"))
  let pages: ReadonlyMap<string, string>

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [script, folder])
    pages = pagesIn(folder)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("is what docs/api holds: npm run docs writes it", () => {
    expect(Object.fromEntries(pagesIn(committed))).toEqual(Object.fromEntries(pages))
  })

  it("has a page for every module that package.json exports", () => {
    const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"))
    const modules = Object.keys(exports).flatMap((entry) => {
      const [, name] = /^\.\/([A-Z]\w+)$/.exec(entry) ?? []
      return name === undefined ? [] : [`${name}.md`]
    })
    expect(modules.length).toBeGreaterThan(8)
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining([
        ...modules,
        "redis/RedisTokenCache.md",
        "testing/NutritionAdvisorTest.md",
        "testing/Simulator.md"
      ])
    )
  })

  it("has a category for every export", () => {
    for (const [name, page] of pages) {
      expect([name, categoriesOf(page)]).toEqual([name, expect.not.arrayContaining(["utils"])])
    }
  })

  it("has a description and a version for every export", () => {
    const bare = [...pages].flatMap(([name, page]) =>
      exportsOf(page)
        .filter((text) => !/^## .+\n\n(?!\*\*Signature)\S/.test(text) || !/\nAdded in v\d+\.\d+\.\d+\n/.test(text))
        .map((text) => `${name}: ${text.split("\n")[0]}`)
    )
    expect([...pages.values()].flatMap(exportsOf).length).toBeGreaterThan(80)
    expect(bare).toEqual([])
  })

  it.each([
    ["NutritionAdvisor.md", ["search", "searchAs", "layer", "layerShared", "Service (interface)"]],
    ["AccessToken.md", ["make"]],
    ["TokenProvider.md", ["Service (interface)"]],
    ["redis/RedisTokenCache.md", ["layer"]]
  ])("shows an example in %s, which docgen has compiled and run", (name, shown) => {
    const withExample = exportsOf(pages.get(name) ?? "").filter((text) => text.includes("**Example**"))
    expect(withExample.map((text) => /^## (.+)/.exec(text)?.[1])).toEqual(expect.arrayContaining(shown))
  })

  it("links to pages and headings that exist", () => {
    const broken = [...pagesIn(committed)].flatMap(([name, page]) => brokenLinksOf(`docs/api/${name}`, page, read))
    expect(broken).toEqual([])
  })
})
