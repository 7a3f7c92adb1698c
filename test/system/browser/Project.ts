/** A project of its own, outside the repository, with the library as npm would have installed it. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { builtinModules, createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build, type BuildOptions } from "esbuild"

const run = promisify(execFile)

const repository = fileURLToPath(new URL("../../..", import.meta.url))

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

/** What wrangler asks for. */
export const forWorkerd: BuildOptions = {
  conditions: ["workerd", "worker", "browser"],
  external: [...builtinModules, "node:*", "cloudflare:*"],
  mainFields: ["browser", "module", "main"],
  platform: "browser"
}

export interface Project {
  readonly folder: string
  /** Copies a file of the repository into the project. */
  readonly add: (path: string) => Promise<void>
  /** Installs a package that the repository has. */
  readonly link: (name: string) => Promise<void>
  /** The bundle of a text, or of a file in the project, such as `client.ts`. Ends in esbuild's own errors. */
  readonly bundle: (source: string | { readonly file: string }, options: BuildOptions) => Promise<string>
  /** The export `outcome` of a module that Node loads. */
  readonly run: (module: string) => Promise<string>
  readonly remove: () => Promise<void>
}

/** Where Node finds a package for the repository: in its own folder of modules, or in one above it. */
const placeOf = (name: string): string => {
  const folders = createRequire(join(repository, "package.json")).resolve.paths(name) ?? []
  const place = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (place === undefined) throw new Error(`${name} is not installed`)
  return place
}

export const create = async (): Promise<Project> => {
  const folder = await mkdtemp(join(tmpdir(), "browser-"))
  const modules = join(folder, "node_modules")
  const library = join(modules, manifest.name)
  await mkdir(library, { recursive: true })
  await run(process.execPath, [join(repository, "scripts/build.mjs"), "--out", join(library, "dist")])
  await copyFile(join(repository, "package.json"), join(library, "package.json"))
  const add = (path: string) => copyFile(join(repository, path), join(folder, basename(path)))
  await add("test/system/browser/client.ts")
  const link = async (name: string) => {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(placeOf(name), join(modules, name), "junction")
  }
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) await link(name)

  let runs = 0

  return {
    folder,
    add,
    link,
    bundle: async (source, options) => {
      const { outputFiles: [output] } = await build({
        format: "esm",
        ...options,
        ...(typeof source === "string"
          ? { stdin: { contents: source, resolveDir: folder } }
          : { entryPoints: [join(folder, source.file)] }),
        absWorkingDir: folder,
        bundle: true,
        logLevel: "silent",
        logLimit: 0,
        write: false
      })
      if (output === undefined) throw new Error("esbuild wrote nothing")
      return output.text
    },
    run: async (module) => {
      const name = `./module-${runs++}.mjs`
      await writeFile(join(folder, name), module)
      const load = `console.log(await (await import("${name}")).outcome)`
      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", load], { cwd: folder })
      return stdout.trim().split("\n").at(-1) ?? ""
    },
    remove: () => rm(folder, { recursive: true, force: true })
  }
}
