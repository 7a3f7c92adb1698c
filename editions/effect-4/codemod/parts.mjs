// Replaces single declarations of a file: each declaration in `X.part.ts` replaces the one with the same name in `X.ts`.
import ts from "typescript"

const parse = (text) => ts.createSourceFile("part.ts", text, ts.ScriptTarget.Latest, true).statements

const nameOf = (statement) => (statement.declarationList?.declarations[0] ?? statement).name?.text

/** Returns the source with the declarations of the part, and with its imports added. A comment in the part replaces the one in the source. */
export const withParts = (path, text, part) => {
  const statements = parse(part)
  const imports = statements.filter(ts.isImportDeclaration).map((statement) => statement.getText())
    .filter((line) => !text.includes(line)).map((line) => `${line}\n`)
  const replaced = statements.filter((statement) => !ts.isImportDeclaration(statement)).reduce((before, statement) => {
    const name = nameOf(statement)
    const isDocumented = statement.jsDoc !== undefined
    const found = parse(before).find((candidate) => nameOf(candidate) === name)
    if (found === undefined) {
      throw new Error(`${path} declares no ${name}, which the part for Effect 4 replaces`)
    }
    const replacement = isDocumented ? statement.getFullText().trimStart() : statement.getText()
    return before.slice(0, found.getStart(undefined, isDocumented)) + replacement + before.slice(found.end)
  }, text)
  return withoutUnused(replaced.replace(/^import /m, `${imports.join("")}import `))
}

/** Removes imports of a single name that isn't used. */
const withoutUnused = (text) =>
  text.replace(
    /^import (?:type )?(?:\* as |\{ )(\w+) (?:\} )?from .*\n/gm,
    (line, name) => new RegExp(`\\b${name}\\b(?!")`).test(text.replace(line, "")) ? line : ""
  )
