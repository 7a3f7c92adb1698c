/** The figures of the last full run in RESULTS.md; what is written there by hand stays. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { asMarkdown, type Table } from "./table.js"

const file = new URL("../RESULTS.md", import.meta.url)

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
}
