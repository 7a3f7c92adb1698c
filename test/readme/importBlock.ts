import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { type Block, blocksOf } from "./blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** The blocks of TypeScript in a page, by its path in the repository. */
export const programsOf = (page: string): ReadonlyArray<Block> =>
  blocksOf(readFileSync(join(repository, page), "utf8")).filter(({ language }) => language === "ts")

/**
 * A way to import blocks as modules, each time as a new one. They are written outside of the repository, so that neither lint nor
 * type-check of another run meets them.
 */
export const makeImporter = () => {
  const folder = mkdtempSync(join(tmpdir(), "recipes-"))
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "junction")
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let imported = 0
  return ({ code }: Block): Promise<unknown> => {
    imported += 1
    const file = join(folder, String(imported), "recipe.ts")
    mkdirSync(join(folder, String(imported)))
    writeFileSync(file, code)
    return import(/* @vite-ignore */ file)
  }
}
