/** The files of src, read and parsed. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const source = fileURLToPath(new URL("../../src", import.meta.url))

export const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({
    name: file.replace(/\.ts$/, "").replaceAll("\\", "/"),
    tree: ts.createSourceFile(file, readFileSync(join(source, file), "utf8"), ts.ScriptTarget.Latest, true)
  }))

/** Those of the library: `testing/` has secrets that are invented. Their text is without imports, but for that of node:fs, and without JSDoc. */
export const code = files.filter(({ name }) => !name.startsWith("testing/")).map(({ name, tree }) => ({
  name,
  tree,
  text: tree.text.replaceAll(/\/\*\*[^]*?\*\/|^import (?!.*"node:fs).*$/gm, "")
}))
