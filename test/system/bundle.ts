import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { build } from "esbuild"
import { folder, repository } from "./Program.js"

const banner =
  "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url)"

/**
 * The file of a program that is bundled for the time of a scope: compiling its TypeScript would take most of the time of many short
 * processes.
 */
export const bundle = (
  program: string,
  alias: Readonly<Record<string, string>> = {}
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function*() {
    const outfile = join(yield* folder, "program.mjs")
    yield* Effect.promise(() =>
      build({
        alias,
        absWorkingDir: repository,
        banner: { js: banner },
        bundle: true,
        entryPoints: [program],
        format: "esm",
        logLevel: "silent",
        minify: true,
        outfile,
        platform: "node",
        target: "node20"
      })
    )
    return outfile
  })
