import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "esbuild"
import { repository } from "./Program.js"

export interface Bundle {
  readonly file: string
  readonly remove: () => Promise<void>
}

/** A program as one file: compiling its TypeScript would take most of the time of many short processes. */
export const bundle = async (program: string, alias: Readonly<Record<string, string>> = {}): Promise<Bundle> => {
  const folder = await mkdtemp(join(tmpdir(), "bundle-"))
  const file = join(folder, "program.mjs")
  await build({
    alias,
    absWorkingDir: repository,
    banner: {
      js: "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url)"
    },
    bundle: true,
    entryPoints: [program],
    format: "esm",
    logLevel: "silent",
    minify: true,
    outfile: file,
    platform: "node",
    target: "node20"
  })
  return { file, remove: () => rm(folder, { recursive: true, force: true }) }
}
