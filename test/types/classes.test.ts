import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import ts from "typescript"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const { exports }: { readonly exports: Readonly<Record<string, { readonly types?: string } | string | null>> } = JSON
  .parse(readFileSync(join(repository, "package.json"), "utf8"))

const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === "object" && entry?.types !== undefined
    ? [entry.types.replace("./dist/", "src/").replace(".d.ts", ".ts")]
    : []
)

const program = () => {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.build.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: entries }, ts.sys, repository)
  return ts.createProgram(entries.map((entry) => join(repository, entry)), {
    ...options,
    declarationMap: false,
    emitDeclarationOnly: true,
    removeComments: true,
    sourceMap: false
  })
}

/** Those that package.json exports, and what they are made of but for src/internal and the parts of the simulator. */
const publicModules = (program: ts.Program) =>
  program.getSourceFiles().filter(({ fileName }) =>
    fileName.startsWith(join(repository, "src")) && !/\/internal\/|\/testing\/simulator/.test(fileName)
  )

/** The classes of a module, with what their `extends` names: each static and each field that a class has by itself. */
const classesIn = (declarations: string) => {
  const { statements } = ts.createSourceFile("declarations.d.ts", declarations, ts.ScriptTarget.Latest, true)
  return statements.filter((statement) =>
    ts.isClassDeclaration(statement) || (ts.isVariableStatement(statement) && !/^export/.test(statement.getText()))
  ).map((statement) => statement.getText())
}

/**
 * docs/api has all other types, and test/system/api.test.ts holds it. `npx vitest run test/types/classes.test.ts -u` writes the file
 * anew: read what it changes, since users see each line.
 */
it("the public classes have the members that classes.md shows", async () => {
  const whole = program()
  const texts: Array<string> = []
  for (const file of publicModules(whole)) {
    await setImmediate()
    let text = ""
    whole.emit(file, (_, declarations) => text += declarations, undefined, true)
    const classes = classesIn(text)
    if (classes.length > 0) {
      texts.push(`## ${file.fileName.slice(repository.length)}\n\n\`\`\`ts\n${classes.join("\n")}\n\`\`\`\n`)
    }
  }
  await expect(["# Classes\n", ...texts.sort()].join("\n")).toMatchFileSnapshot("classes.md")
})
