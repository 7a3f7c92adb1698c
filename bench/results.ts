/** The figures of the last full run in RESULTS.md and results.svg; what is written in RESULTS.md by hand stays. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { pictureOf } from "./picture.js"
import { asMarkdown, type Table, tablesIn } from "./table.js"

const file = new URL("../RESULTS.md", import.meta.url)

const picture = new URL("../results.svg", import.meta.url)

const begin = "<!-- written by `npm run bench -- --write` -->"

const end = "<!-- until here -->"

export const write = (run: string, tables: ReadonlyArray<Table>): void => {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "# Results\n"
  const figures = [begin, "", run, "", ...tables.map(asMarkdown), end].join("\n")
  const from = before.indexOf(begin)
  const to = before.indexOf(end)
  writeFileSync(
    file,
    from === -1 || to === -1
      ? `${before.trimEnd()}\n\n${figures}\n`
      : before.slice(0, from) + figures + before.slice(to + end.length)
  )
  writeFileSync(picture, pictureOf(tables))
}

/** The picture alone, from the figures that RESULTS.md has. */
export const draw = (): void => writeFileSync(picture, pictureOf(tablesIn(readFileSync(file, "utf8"))))
