import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const repository = fileURLToPath(new URL("../../..", import.meta.url))

export const read = (path: string): string => readFileSync(join(repository, path), "utf8")

const filesIn = (folder: string, recursive: boolean, ending: string) =>
  readdirSync(join(repository, folder), { recursive, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))

/** The paths of the Markdown files for users, relative to the repository. */
export const pages = [...filesIn("", false, ".md"), ...filesIn("docs", true, ".md")]

/** A code block. `line` is the number of its first line in the file, starting at 1. */
export interface Block {
  readonly path: string
  readonly line: number
  readonly code: string
}

const blocksIn = (path: string, fence: RegExp): ReadonlyArray<Block> => {
  const text = read(path)
  return Array.from(text.matchAll(fence), ({ index, 1: code = "" }) => ({
    path,
    line: text.slice(0, index).split("\n").length + 1,
    code
  }))
}

/** The TypeScript blocks of a page. */
export const programsOf = (page: string): ReadonlyArray<Block> => blocksIn(page, /^```ts\n([^]*?)^```$/gm)

/** The examples in the JSDoc of the source. */
export const examples: ReadonlyArray<Block> = filesIn("src", true, ".ts").flatMap((path) =>
  blocksIn(path, /^ *\* ```ts\n([^]*?)^ *\* ```$/gm).map((block) => ({
    ...block,
    code: block.code.replace(/^ *\* ?/gm, "")
  }))
)

/** Imports a code block as a new module. Its file is outside the repository, so that no linter finds it. */
export const importBlock = async ({ code }: Block): Promise<unknown> => {
  const folder = mkdtempSync(join(tmpdir(), "block-"))
  try {
    symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "junction")
    writeFileSync(join(folder, "block.ts"), code)
    return await import(/* @vite-ignore */ join(folder, "block.ts"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
