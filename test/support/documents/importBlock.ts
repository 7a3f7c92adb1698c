import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Block, repository } from "./blocks.js"

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
