import { readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import ts from "typescript"
import { code, files } from "./types/sources.js"

const document = readFileSync(new URL("../ARCHITECTURE.md", import.meta.url), "utf8")

/** Each place of a room: a module, a folder, which ends in a slash, or some files of a folder in braces. */
const isIn = (place: string) => {
  const [, folder = "", names] = /^([\w/]*)\{([\w,]+)\}$/.exec(place) ?? []
  if (names !== undefined) return (name: string) => names.split(",").some((file) => name === folder + file)
  return (name: string) => place.endsWith("/") ? name.startsWith(place) : name === place
}

/** The rooms of the picture from the top down, each with its places from left to right. */
const rooms = (/^## The rooms\n[^]*?\n\n((?: {4}.*\n)+)/m.exec(document)?.[1] ?? "")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => (line.trim().split(/ {3,}/)[0] ?? "").split(" ").map(isIn))

/** In the order of the picture: each may import what comes after it, and itself. */
const places = rooms.flat()

const placesOf = (name: string) => places.flatMap((has, index) => has(name) ? [index] : [])

const placeOf = (name: string) => placesOf(name)[0] ?? -1

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
    expect(rooms.length).toBeGreaterThan(10)
    expect(rooms.length).toBeLessThanOrEqual(22)
    expect(files.map(({ name }) => name).filter((name) => placesOf(name).length !== 1)).toEqual([])
  })

  it("has a file for each module and folder of the picture", () => {
    const empty = places.filter((has) => !files.some(({ name }) => has(name)))
    expect(empty).toEqual([])
  })

  it("imports nothing upwards, types included", () => {
    const upwards = files.flatMap((file) =>
      importsOf(file).filter((imported) => placeOf(imported) < placeOf(file.name)).map((imported) =>
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

  it("uses one word for one thing: what ARCHITECTURE.md says is in its table once, and words that were given up stay away", () => {
    const table = /^## Words\n[^]*$/m.exec(document)?.[0] ?? ""
    const words = Array.from(table.matchAll(/^\| (?!word |---)([^|]+) \|/gm), ([, row = ""]) => row.split("; ")).flat()
    expect(words.length).toBeGreaterThan(15)
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([])
    const givenUp = /\b(bell|engine|probe|RequestScope|ExchangeContext|Health|Holding|requestInitOf)\b/
    expect(code.flatMap(({ name, text }) => givenUp.test(text) ? [`${name}: ${givenUp.exec(text)?.[0]}`] : [])).toEqual(
      []
    )
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
