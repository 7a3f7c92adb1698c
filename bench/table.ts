/** Tables, for the eye and as Markdown. */
export interface Table {
  readonly title: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  readonly notes?: ReadonlyArray<string>
}

const isFigure = (cell: string) => /^[<-]?\d/.test(cell)

const cellOf = (row: ReadonlyArray<string>, column: number) => row[column] ?? ""

export const asText = ({ columns, notes = [], rows, title }: Table): string => {
  const widths = columns.map((name, column) => Math.max(name.length, ...rows.map((row) => cellOf(row, column).length)))
  const isRight = columns.map((_, column) =>
    rows.every((row) => cellOf(row, column) === "" || isFigure(cellOf(row, column)))
  )
  const line = (row: ReadonlyArray<string>) =>
    widths.map((width, column) =>
      isRight[column] === true ? cellOf(row, column).padStart(width) : cellOf(row, column).padEnd(width)
    ).join("  ").trimEnd()
  const rule = widths.map((width) => "-".repeat(width)).join("  ")
  return [title, "", line(columns), rule, ...rows.map(line), ...notes.map((note) => `(${note})`), ""].join("\n")
}

export const asMarkdown = ({ columns, notes = [], rows, title }: Table): string => {
  const line = (row: ReadonlyArray<string>) => `| ${row.join(" | ")} |`
  return [
    `### ${title}`,
    "",
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map(line),
    ...notes.flatMap((note) => ["", note]),
    ""
  ].join("\n")
}

/** The tables of a text that `asMarkdown` wrote; notes are left out. */
export const tablesIn = (markdown: string): ReadonlyArray<Table> =>
  markdown.split(/^### /m).slice(1).flatMap((section) => {
    const [title = "", ...lines] = section.split("\n")
    const [columns, , ...rows] = lines.filter((line) => line.startsWith("| ")).map((line) =>
      line.slice(2, -2).split(" | ")
    )
    return columns === undefined ? [] : [{ title, columns, rows }]
  })
