/** Prints the first comment of the example that runs, if it is asked for --help: what it shows, and what it needs. */
import { readFileSync, writeSync } from "node:fs"

const [, example = "", ...args] = process.argv

if (args.includes("--help")) {
  const [, comment = ""] = /\/\*\*\s*([^]*?)\s*\*\//.exec(readFileSync(example, "utf8")) ?? []
  writeSync(1, `${comment.replace(/^ *\* ?/gm, "")}\n`)
  process.exit(0)
}
