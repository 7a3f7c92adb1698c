import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import ts from "typescript"

const source = fileURLToPath(new URL("../src", import.meta.url))

const document = readFileSync(new URL("../ARCHITECTURE.md", import.meta.url), "utf8")

/** Each place of a room: a module, a folder, which ends in a slash, or some files of a folder in braces. */
const isIn = (place: string) => {
  const [, folder = "", names] = /^([\w/]*)\{([\w,]+)\}$/.exec(place) ?? []
  if (names !== undefined) return (name: string) => names.split(",").some((file) => name === folder + file)
  return (name: string) => place.endsWith("/") ? name.startsWith(place) : name === place
}

/** The rooms of the picture from the top down. Each may import what stands below it, and itself. */
const rooms = (/^## The rooms\n[^]*?\n\n((?: {4}.*\n)+)/m.exec(document)?.[1] ?? "")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => (line.trim().split(/ {3,}/)[0] ?? "").split(" ").map(isIn))

/** Where the license key, a token or the customer identifier is unwrapped, and so where a secret could leave. */
const unwrapping = Array.from(
  document.split("Files that unwrap a `Redacted`")[1]?.split("\n## ")[0]?.matchAll(/^\| `([\w/]+)` \|/gm) ?? [],
  ([, name]) => name
)

/** Where log lines and spans are written, and what goes to the console. */
const writing = Array.from(
  readFileSync(new URL("../SECURITY.md", import.meta.url), "utf8")
    .split("These write log lines")[1]?.split("\n\n")[0]?.split(":")[1]?.matchAll(/`([\w/]+)`/g) ?? [],
  ([, name]) => name
)

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({
    name: file.replace(/\.ts$/, "").replaceAll("\\", "/"),
    tree: ts.createSourceFile(file, readFileSync(join(source, file), "utf8"), ts.ScriptTarget.Latest, true)
  }))

const roomsOf = (name: string) => rooms.flatMap((room, index) => room.some((has) => has(name)) ? [index] : [])

const roomOf = (name: string) => roomsOf(name)[0] ?? -1

/** Types included: whoever reads a file has to read what it imports. */
const importsOf = ({ name, tree }: (typeof files)[number]) =>
  tree.statements.flatMap((statement) =>
    (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
      statement.moduleSpecifier !== undefined && ts.isStringLiteral(statement.moduleSpecifier) &&
      statement.moduleSpecifier.text.startsWith(".")
      ? [relative(".", join(dirname(name), statement.moduleSpecifier.text.replace(/\.js$/, ""))).replaceAll("\\", "/")]
      : []
  )

const lengthsIn = (tree: ts.SourceFile) => {
  const lengths: Array<number> = []
  const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node)) lengths.push(lineOf(node.end) - lineOf(node.getStart()) + 1)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return lengths
}

describe("src", () => {
  it("has each file in one room of the picture in ARCHITECTURE.md", () => {
    expect(rooms.length).toBeGreaterThan(20)
    expect(files.map(({ name }) => name).filter((name) => roomsOf(name).length !== 1)).toEqual([])
  })

  it("has a file for each module and folder of the picture", () => {
    const places = rooms.flat()
    const empty = places.filter((has) => !files.some(({ name }) => has(name)))
    expect(empty).toEqual([])
  })

  it("imports nothing upwards, types included", () => {
    const upwards = files.flatMap((file) =>
      importsOf(file).filter((imported) => roomOf(imported) < roomOf(file.name)).map((imported) =>
        `${file.name} -> ${imported}`
      )
    )
    expect(upwards).toEqual([])
  })

  it("imports nothing in a circle, types included", () => {
    const imports = new Map(files.map((file) => [file.name, importsOf(file)]))
    const circles: Array<string> = []
    const done = new Set<string>()
    const follow = (name: string, path: ReadonlyArray<string>) => {
      if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(" -> "))
      else if (!done.has(name)) {
        for (const imported of imports.get(name) ?? []) follow(imported, [...path, name])
        done.add(name)
      }
    }
    for (const { name } of files) follow(name, [])
    expect(circles).toEqual([])
  })

  it("unwraps a secret in the files that ARCHITECTURE.md lists and no other", () => {
    const unwraps = files.filter(({ name, tree }) =>
      !name.startsWith("testing/") && /\bRedacted\.value\b/.test(tree.text)
    ).map(({ name }) => name)
    expect(unwraps.sort()).toEqual([...unwrapping].sort())
  })

  it("writes log lines, spans and to the console in the files that SECURITY.md lists and no other", () => {
    const writes =
      /\bEffect\.(log|annotate|withSpan|withLogSpan|useSpan|makeSpan|linkSpan)|\.(attribute|event)\(|\b[cC]onsole\b|\.(stdout|stderr)\b/
    const found = files.filter(({ name, tree }) =>
      !name.startsWith("testing/") && writes.test(tree.text.replaceAll(/\/\*\*[^]*?\*\//g, ""))
    ).map(({ name }) => name)
    expect(found.sort()).toEqual([...writing].sort())
  })

  it("has no function over 100 lines", () => {
    const long = files.flatMap(({ name, tree }) =>
      lengthsIn(tree).filter((length) => length > 100).map((length) => `${name}: ${length}`)
    )
    expect(long).toEqual([])
  })

  it("has no file over 400 lines, JSDoc aside", () => {
    const linesOf = (tree: ts.SourceFile) => tree.text.replaceAll(/\/\*\*[^]*?\*\/\n/g, "").split("\n").length
    const long = files.filter(({ tree }) => linesOf(tree) > 400)
    expect(long.map(({ name }) => name)).toEqual([])
  })
})
