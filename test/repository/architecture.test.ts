import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "@effect/vitest"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { read, repository } from "../support/documents/blocks.js"

const files = readdirSync(join(repository, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/").slice(0, -3))

/** A place of a component: a module, or a folder, which ends in a slash. */
const isIn = (place: string) => (file: string) => place.endsWith("/") ? file.startsWith(place) : file === place

/** The components in the table, from the top down. */
const components = (/^## Components\n[^]*?\n\| --- .*\n((?:\|.*\n)+)/m.exec(read("ARCHITECTURE.md"))?.[1] ?? "")
  .trim()
  .split("\n")
  .map((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`(.+?)`/g), ([, name = ""]) => isIn(name)))

const componentsOf = (file: string) =>
  components.flatMap((places, index) => places.some((has) => has(file)) ? [index] : [])

const componentOf = (file: string) => componentsOf(file)[0] ?? -1

const importsOf = (file: string) =>
  Array.from(
    read(`src/${file}.ts`).matchAll(/\b(?:from|import\() ?"(\.[^"]+)\.js"/g),
    ([, path = ""]) => join(dirname(file), path).replaceAll("\\", "/")
  )

it("architecture: each file in src is in exactly one component of ARCHITECTURE.md, and each name there has a file", () => {
  expect(files.filter((file) => componentsOf(file).length !== 1)).toEqual([])
  expect(components.flat().filter((has) => !files.some(has))).toEqual([])
})

it("architecture: no file in src imports from a component above, not even types", () => {
  const imports = files.flatMap((file) => importsOf(file).map((imported) => [file, imported] as const))
  expect(imports.length).toBeGreaterThan(files.length)
  expect(imports.filter(([file, imported]) => componentOf(imported) < componentOf(file))).toEqual([])
})

it("architecture: ARCHITECTURE.md names each file that creates an error", () => {
  const [, section = ""] = read("ARCHITECTURE.md").split("\n## Errors\n")
  const rows = Array.from(section.split("\n## ")[0]?.matchAll(/^\| `(\w+)` \| (.*) \|$/gm) ?? [])
  const namedFor = (tag: string) => {
    const [, , cell = ""] = rows.find(([, name]) => name === tag) ?? []
    return Array.from(cell.matchAll(/`(\w+\/[\w/]+)`/g), ([, place = ""]) => `internal/${place}`)
  }
  const creates = (tag: string) => (file: string) => new RegExp(`\\bnew ${tag}\\(`).test(read(`src/${file}.ts`))
  const tags = NutritionAdvisorError.errors.map(({ _tag }) => _tag)
  expect(tags.length).toBeGreaterThan(5)
  expect(Object.fromEntries(tags.map((tag) => [tag, files.filter(creates(tag)).sort()])))
    .toEqual(Object.fromEntries(tags.map((tag) => [tag, namedFor(tag).sort()])))
})

it.each(["A search", "An exchange", "A rejected token"])(
  "architecture: each function in the steps of \"%s\" is in its file",
  (heading) => {
    const section = read("ARCHITECTURE.md").split("\n## ").find((text) => text.startsWith(`${heading}\n`)) ?? ""
    const namesIn = (cell: string) => Array.from(cell.matchAll(/`(?:\w+\.)?([\w/]+)`/g), ([, name = ""]) => name)
    const steps = Array.from(section.matchAll(/^\| \d\w? (.*?) \| (.*?) \|/gm), ([, functions = "", places = ""]) => ({
      functions: namesIn(functions),
      source: namesIn(places).map((place) => read(`src/internal/${place}.ts`)).join()
    }))
    expect(steps.length).toBeGreaterThan(3)
    const missing = steps.flatMap(({ functions, source }) =>
      functions.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))
    )
    expect(missing).toEqual([])
  }
)

it.each(["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "test/README.md"])(
  "%s: each identifier is in the code",
  (page) => {
    const code = ["src", "test", "examples", "ops", "scripts"].flatMap((folder) =>
      readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => /\.(ts|mjs|yml|json)$/.test(file))
        .map((file) => read(join(folder, file)))
    ).join()
    const identifiers = Array.from(read(page).matchAll(/`([a-z]\w+)`/gi), ([, name]) => name)
    expect(identifiers.length).toBeGreaterThan(5)
    expect(identifiers.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  }
)

it("architecture: only files in the table of SECURITY.md unwrap a secret", () => {
  const [, table = ""] = read("SECURITY.md").split("## Where secrets are in plain text")
  const named = new Set(Array.from(table.matchAll(/`([\w/]+)`/g), ([, name = ""]) => name))
  const unwraps = files.filter((file) =>
    !file.startsWith("testing/") && read(`src/${file}.ts`).includes("Redacted.value")
  )
  expect(unwraps.length).toBeGreaterThan(0)
  expect(unwraps.filter((file) => !named.has(file))).toEqual([])
  const isPlace = (name: string) => files.some((file) => `${file}/`.startsWith(`${name}/`))
  expect([...named].filter((name) => name.includes("/") && !isPlace(name))).toEqual([])
})
