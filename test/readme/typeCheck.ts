import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import type { Block } from "./blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** Its own folder below node_modules: the packages resolve, and no lint, test run or type-check of the repository sees it. */
const cache = join(repository, "node_modules", ".cache")

/** Those of the repository. */
export const compilerOptions = (): ts.CompilerOptions => {
  const path = join(repository, "tsconfig.json")
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile)
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, "\n"))
  return ts.parseJsonConfigFileContent({ ...config, include: [], files: ["src/index.ts"] }, ts.sys, repository).options
}

/** An example may end in a value that its reader goes on with. */
const ofExamples = () => ({ ...compilerOptions(), noUnusedLocals: false, noEmit: true })

const textOf = ({ messageText }: ts.Diagnostic) => ts.flattenDiagnosticMessageText(messageText, "\n")

/**
 * What the compiler says about the blocks of Markdown files, each a module of its own, in lines of their file. It lets the
 * event loop turn on the way: vitest gives up a worker that it hears nothing from for a minute.
 */
export const complaintsAbout = async (
  documents: ReadonlyArray<readonly [path: string, blocks: ReadonlyArray<Block>]>
): Promise<ReadonlyArray<string>> => {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "readme-"))
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
    const files = new Map(documents.flatMap(([path, blocks]) =>
      blocks.map(({ code, line }) => {
        const name = `${path.replaceAll("/", "-")}-line${String(line).padStart(6, "0")}.ts`
        return [name, { code, line, path }] as const
      })
    ))
    for (const [name, { code }] of files) writeFileSync(join(folder, name), code)
    const program = ts.createProgram([...files.keys()].map((name) => join(folder, name)), ofExamples())
    const complaints = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()].map(textOf)
    for (const [name, { line, path }] of files) {
      await setImmediate()
      const file = program.getSourceFile(join(folder, name))
      for (const diagnostic of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
        const inBlock = file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0
        complaints.push(`${path}:${line + inBlock} ${textOf(diagnostic)}`)
      }
    }
    return complaints
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
