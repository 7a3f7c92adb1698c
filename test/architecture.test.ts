import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { parseCircular, parseDependencyTree } from "dpdm"
import { code, files } from "./types/sources.js"

const repository = fileURLToPath(new URL("..", import.meta.url))

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
const imports = parseDependencyTree(["src/**/*.ts"], { context: repository, skipDynamicImports: true })

const nameOf = (path: string) => path.replace(/^src\/(.*)\.ts$/, "$1")

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

  it("imports nothing upwards, types included", async () => {
    const tree = Object.entries(await imports)
    expect(tree.length).toBeGreaterThan(files.length)
    const upwards = tree.flatMap(([path, imported]) =>
      (imported ?? []).flatMap(({ id }) =>
        id?.startsWith("src/") && placeOf(nameOf(id)) < placeOf(nameOf(path)) ? [`${path} -> ${id}`] : []
      )
    )
    expect(upwards).toEqual([])
  })

  it("imports nothing in a circle, types included", async () => {
    expect(parseCircular(await imports)).toEqual([])
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
})
