/** Runs in `npm run check:bench`, which installs what draws the picture. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { DOMParser, onWarningStopParsing } from "@xmldom/xmldom"
import { pictureOf } from "./picture.js"
import { asMarkdown, tablesIn } from "./table.js"

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8")

const tables = tablesIn(read("RESULTS.md"))

const storms = tables.filter(({ title }) => / searches at once, /.test(title))

const picture = pictureOf(tables)

const texts = Array.from(
  new DOMParser({ onError: onWarningStopParsing }).parseFromString(picture, "image/svg+xml").getElementsByTagName(
    "text"
  ),
  ({ textContent }) => textContent
)

describe("the picture of the results", () => {
  it.each(tables.filter(({ title }) => / concurrent$| at once, /.test(title) && !title.startsWith("ours")))(
    "names $title and each of its clients",
    ({ rows, title }) => {
      expect(texts).toEqual(expect.arrayContaining([title, ...rows.map(([client]) => client)]))
    }
  )

  it("says which storms failed, and which took more than one exchange", () => {
    const told = (column: string, usual: string) =>
      storms.flatMap(({ columns, rows }) => rows.map((row) => row[columns.indexOf(column)])).filter((cell) =>
        cell !== usual
      )
    const endings = (word: string) => texts.flatMap((text) => new RegExp(`(\\S+) ${word}`).exec(text ?? "")?.[1] ?? [])
    expect(endings("failed")).toEqual(told("failures", "0"))
    expect(endings("exchanges")).toEqual(told("exchanges", "1"))
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
