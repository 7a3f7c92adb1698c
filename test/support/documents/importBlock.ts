import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { type Block, repository } from "./blocks.js"

/** Returns a function that imports a code block as a new module. The files are outside the repository, so that no linter finds them. */
export const makeImporter = () => {
  const folder = mkdtempSync(join(tmpdir(), "blocks-"))
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "junction")
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let imported = 0
  return ({ code }: Block): Promise<unknown> => {
    imported += 1
    const file = join(folder, String(imported), "block.ts")
    mkdirSync(join(folder, String(imported)))
    writeFileSync(file, code)
    return import(/* @vite-ignore */ file)
  }
}
