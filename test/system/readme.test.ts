/** Type-checks the code of README.md, the documents and the JSDoc in one run of the compiler. */
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import ts from "typescript"
import { examples, pages, programsOf, repository } from "../support/documents/blocks.js"

const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile)

const { options } = ts.parseJsonConfigFileContent(
  { ...config, include: [], files: ["src/index.ts"] },
  ts.sys,
  repository
)

const blocks = new Map(
  [...pages.flatMap(programsOf), ...examples].map((block) =>
    [join(repository, `${block.path}.line${block.line}.ts`), block] as const
  )
)

it("documents: each TypeScript block in README.md and docs/ and each JSDoc example compiles as its own module", () => {
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile } = host
  host.fileExists = (name) => blocks.has(name) || fileExists(name)
  host.readFile = (name) => blocks.get(name)?.code ?? readFile(name)
  const program = ts.createProgram([...blocks.keys()], { ...options, noUnusedLocals: false }, host)
  const complaints = [...blocks].flatMap(([name, { line, path }]) => {
    const file = program.getSourceFile(name)
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText, start = 0 }) => {
        const inBlock = file?.getLineAndCharacterOfPosition(start).line ?? 0
        return `${path}:${line + inBlock} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
      }
    )
  })
  expect(complaints).toEqual([])
})
