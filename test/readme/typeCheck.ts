import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import type { Block } from "./blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Its own folder below node_modules: the packages resolve, and no lint, test run or type-check of the repository sees it. */
const cache = join(repository, "node_modules", ".cache")

const compilerOptions = (): ts.CompilerOptions => {
  const path = join(repository, "tsconfig.json")
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile)
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"))
  return {
    ...ts.parseJsonConfigFileContent({ ...config, include: [], files: ["src/index.ts"] }, ts.sys, repository).options,
    // An example may end in a value that its reader goes on with.
    noUnusedLocals: false,
    noEmit: true
  }
}

/** The last one: what it has read of effect and the library serves the next. */
let program: ts.Program | undefined

/** What the compiler says about the blocks of a Markdown file, each a module of its own, in lines of that file. */
export const complaintsAbout = (path: string, blocks: ReadonlyArray<Block>): ReadonlyArray<string> => {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "readme-"))
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    // The compiler sorts by file name.
    const files = new Map(blocks.map((block) => [join(folder, `line${String(block.line).padStart(6, "0")}.ts`), block]))
    for (const [file, { code }] of files) writeFileSync(file, code)
    program = ts.createProgram([...files.keys()], compilerOptions(), undefined, program)
    return ts.getPreEmitDiagnostics(program)
      .map(({ file, messageText, start = 0 }) => {
        const message = ts.flattenDiagnosticMessageText(messageText, "\n")
        if (file === undefined) return message
        const { line } = file.getLineAndCharacterOfPosition(start)
        const block = [...files].find(([name]) => basename(name) === basename(file.fileName))?.[1]
        return block === undefined
          ? `${basename(file.fileName)}:${line + 1} ${message}`
          : `${path}:${block.line + line} ${message}`
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
