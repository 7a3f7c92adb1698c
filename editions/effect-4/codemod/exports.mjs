// What the modules of Effect 4 export, read from their declarations without checking types.
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import ts from "typescript"

const require = createRequire(import.meta.url)

/** The folder of an installed package. `exports` of its package.json doesn't matter. */
const folderOf = (name) =>
  require.resolve.paths(name).map((path) => join(path, name)).find((path) => existsSync(join(path, "package.json")))

const fileOf = (module) => {
  const [, name, path] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(module)
  const folder = folderOf(name)
  if (folder === undefined) return undefined
  const candidates = path === undefined ? ["index"] : [path, `${path}/index`]
  return candidates.map((candidate) => join(folder, "dist", `${candidate}.d.ts`)).find(existsSync)
}

const namesOf = (statement, folder) => {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, moduleSpecifier } = statement
    if (exportClause === undefined) return read(join(folder, moduleSpecifier.text.replace(/\.(js|ts)$/, ".d.ts")))
    return ts.isNamespaceExport(exportClause)
      ? [exportClause.name.text]
      : exportClause.elements.map(({ name }) => name.text)
  }
  if (!statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
  return ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name.text)
    : [statement.name.text]
}

const read = (file) => {
  if (!existsSync(file)) return []
  const { statements } = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => namesOf(statement, dirname(file)))
}

const known = new Map()

/** Returns the names that a module exports, or undefined if there is no such module. */
export const exportsOf = (module) => {
  if (!known.has(module)) {
    const file = fileOf(module)
    known.set(module, file === undefined ? undefined : new Set(read(file)))
  }
  return known.get(module)
}
