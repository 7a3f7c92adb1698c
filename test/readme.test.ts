import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { type Block, blocksOf, brokenLinksOf } from "./readme/blocks.js"
import { complaintsAbout } from "./readme/typeCheck.js"

const repository = fileURLToPath(new URL("..", import.meta.url))

const read = (path: string) => {
  const full = join(repository, path)
  return existsSync(full) ? statSync(full).isDirectory() ? "" : readFileSync(full, "utf8") : undefined
}

const docs = existsSync(join(repository, "docs"))
  ? readdirSync(join(repository, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
  : []

const inTypeScript = (text: string) =>
  blocksOf(text).filter(({ language }) => /^(?:[cm]?tsx?|typescript)\b/i.test(language))

const isChecked = ({ language, meta }: Block) => language === "ts" && meta === ""

const checked = (text: string) => inTypeScript(text).filter(isChecked)

const unchecked = (text: string) =>
  inTypeScript(text)
    .filter((block) => !isChecked(block))
    .map(({ language, line, meta }) => `line ${line - 1}: ${language} ${meta}`.trim())

describe.each(["README.md", ...docs])("%s", (path) => {
  it("exists", () => {
    expect(read(path)).toBeDefined()
  })

  it("marks no block as one that is not checked", () => {
    expect(unchecked(read(path) ?? "")).toEqual([])
  })

  it("holds code that type-checks as it stands", { timeout: 120_000 }, async () => {
    await setImmediate()
    expect(complaintsAbout(path, checked(read(path) ?? ""))).toEqual([])
  })
})

describe("README.md", () => {
  const text = read("README.md") ?? ""

  it("shows code", () => {
    expect(checked(text)).not.toEqual([])
  })

  const rows = /^## The map\n\n((?: {4}.*\n)+)/m.exec(text)?.[1] ?? ""

  const modules = readdirSync(join(repository, "src"), { encoding: "utf8", recursive: true })
    .flatMap((path) => /^(.+)\.ts$/.exec(path.replaceAll("\\", "/"))?.[1] ?? [])
    .filter((name) => !name.endsWith("index"))

  it.each(modules)("has a place on the map for %s", (name) => {
    const [base = ""] = name.split("/").slice(-1)
    expect(rows).toMatch(new RegExp(`(^|[ /])${base}\\b`, "m"))
  })

  it("has nothing else in a folder of the map", () => {
    const named = Array.from(rows.matchAll(/\b((?:internal|testing)\/\w+) /g), ([, name = ""]) => name)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !modules.includes(name))).toEqual([])
  })
})

const beside = [
  ".changeset/README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "SERVICE.md",
  "bench/RESULTS.md",
  "test/README.md"
]

describe.each(["README.md", ...beside, ...docs])("%s", (path) => {
  it("links to files and headings that exist", () => {
    expect(brokenLinksOf(path, read(path) ?? "", read)).toEqual([])
  })
})

describe("unchecked", () => {
  it.each(["ts no-check", "ts,no-check", "ts{1}", "tsx", "typescript"])("names a block that is marked %s", (mark) => {
    expect(unchecked(["text", `\`\`\`${mark}`, "1", "```"].join("\n"))).toEqual([`line 2: ${mark}`])
  })
})

describe("complaintsAbout", () => {
  const text = [
    "```ts",
    "import { NutritionAdvisor } from \"effect-nutrition-advisor\"",
    "import { Simulator } from \"effect-nutrition-advisor/testing\"",
    "import type { TokenStore } from \"effect-nutrition-advisor/TokenStore\"",
    "",
    "const unused = [NutritionAdvisor.search(\"egg\"), Simulator.baseUrl]",
    "const count: number = Simulator.baseUrl",
    "```",
    "",
    "```ts",
    "export const found = await Promise.resolve(missing)",
    "```"
  ].join("\n")

  it("names the line of the Markdown file for each mistake and for nothing else", { timeout: 120_000 }, () => {
    expect(complaintsAbout("README.md", blocksOf(text))).toEqual([
      "README.md:7 Type 'string' is not assignable to type 'number'.",
      "README.md:11 Cannot find name 'missing'."
    ])
  })
})
