/** The JSDoc of fields in src. */
import { read } from "./blocks.js"

/** Text on one line, without quotes and backticks. */
export const plain = (text: string) => text.replace(/\s*\n\s*\*\s*/g, " ").replace(/["`]/g, "").trim()

/** The JSDoc of each field that a text declares. It is undefined for a field without JSDoc. */
export const docsIn = (text: string): Readonly<Record<string, string | undefined>> => {
  const fields = text.matchAll(/(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s+)?readonly (\w+)\??:/g)
  return Object.fromEntries(Array.from(fields, ([, doc, name = ""]) => [name, doc && plain(doc)]))
}

/** The JSDoc of each field of a type, such as "interface Options", in a file. */
export const docsOf = (path: string, type: string) => {
  const [, declaration = ""] = read(path).split(type)
  return docsIn(declaration.split("\n}")[0] ?? "")
}
