/** Runs in `npm run check:bench`, which installs what draws the picture. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { DOMParser, onWarningStopParsing } from "@xmldom/xmldom"
import { level, names, pictureOf } from "./picture.js"
import { asMarkdown, tablesIn } from "./table.js"

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8")

const tables = tablesIn(read("RESULTS.md"))

const picture = pictureOf(tables)

const texts = Array.from(
  new DOMParser({ onError: onWarningStopParsing }).parseFromString(picture, "image/svg+xml").getElementsByTagName(
    "text"
  ),
  ({ textContent }) => textContent
)

describe("the picture of the results", () => {
  it("shows each client that a reader knows, with its CPU, from the least to the most", () => {
    const table = tables.find(({ title }) => title === level)
    const column = table?.columns.indexOf("CPU µs") ?? -1
    const cpu = new Map(table?.rows.map((row) => [row[0], Number(row[column])]))
    const drawn = Object.entries(names).map(([client, name]) => ({ name, micros: cpu.get(client) ?? Number.NaN }))
      .sort((a, b) => a.micros - b.micros)
    expect(texts).toEqual(expect.arrayContaining(drawn.map(({ name }) => name)))
    expect(texts.filter((text) => /^\d+$/.test(text ?? ""))).toEqual(
      drawn.map(({ micros }) => String(Math.round(micros)))
    )
  })

  it("is drawn for light and dark", () => {
    expect(picture).toContain("prefers-color-scheme:dark")
  })

  it("results.svg shows the figures of RESULTS.md", () => {
    expect(read("results.svg")).toBe(picture)
  })
})

it("a table is read as it was written", () => {
  const table = { title: "1 concurrent", columns: ["client", "ms", ""], rows: [["a", "0.5", "met"], ["b", "", ""]] }
  expect(tablesIn([asMarkdown({ ...table, notes: ["a note"] }), asMarkdown(table)].join("\n"))).toEqual([table, table])
})
