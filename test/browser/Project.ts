/** A project of its own, outside the repository, with the library as npm would have installed it. */
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build, type BuildOptions } from "esbuild"

const run = promisify(execFile)

const repository = fileURLToPath(new URL("../..", import.meta.url))

type Target = string | null | { readonly [condition: string]: Target }

export interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, Target>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

export const manifest: Manifest = JSON.parse(await readFile(join(repository, "package.json"), "utf8"))

/** What a client can import, as it is written in an import. */
export const entries: ReadonlyArray<string> = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target === "object" && target !== null)
  .map(([entry]) => `${manifest.name}${entry.slice(1)}`)

export interface Project {
  /** The bundle of a text, or of the client in `client.ts`. Ends in esbuild's own errors. */
  readonly bundle: (source: string | { readonly file: "client.ts" }, options: BuildOptions) => Promise<string>
  /** The export `outcome` of a module that Node loads. */
  readonly run: (module: string) => Promise<string>
  readonly remove: () => Promise<void>
}

export const create = async (): Promise<Project> => {
  const folder = await mkdtemp(join(tmpdir(), "browser-"))
  const modules = join(folder, "node_modules")
  const library = join(modules, manifest.name)
  await mkdir(library, { recursive: true })
  await run(process.execPath, [join(repository, "scripts/build.mjs"), "--out", join(library, "dist")])
  await copyFile(join(repository, "package.json"), join(library, "package.json"))
  await copyFile(join(repository, "test/browser/client.ts"), join(folder, "client.ts"))
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(repository, "node_modules", name), join(modules, name), "junction")
  }

  return {
    bundle: async (source, options) => {
      const { outputFiles: [output] } = await build({
        ...options,
        ...(typeof source === "string"
          ? { stdin: { contents: source, resolveDir: folder } }
          : { entryPoints: [join(folder, source.file)] }),
        absWorkingDir: folder,
        bundle: true,
        format: "esm",
        logLevel: "silent",
        logLimit: 0,
        write: false
      })
      if (output === undefined) throw new Error("esbuild wrote nothing")
      return output.text
    },
    run: async (module) => {
      await writeFile(join(folder, "module.mjs"), module)
      const load = "console.log(await (await import(\"./module.mjs\")).outcome)"
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", load], { cwd: folder })
      return stdout.trim()
    },
    remove: () => rm(folder, { recursive: true, force: true })
  }
}
