/**
 * `npm run bench -- [--quick] [--only throughput,token] [--clients undici,ours] [--levels 64] [--rounds 3] [--millis 1000]
 * [--profile folder] [--flags=--trace-gc] [--write] [--draw] [--effect-4]`: installs the peers, builds a copy of the library that nobody else
 * rebuilds meanwhile, compiles the benchmark against it by its name, and runs it. --effect-4 builds the edition as well, and measures
 * it beside the source: all of it on the Node that the edition runs on, since the runtime counts as much as the library.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const bench = fileURLToPath(new URL(".", import.meta.url))

const root = join(bench, "..")

const modules = join(bench, "node_modules")

const windows = process.platform === "win32"

const step = (name, command, args, options = {}) => {
  const { error, signal, status } = spawnSync(command, args, { cwd: bench, stdio: "inherit", ...options })
  if (status === 0) return
  console.error(`${name} ended with ${error?.message ?? signal ?? status}`)
  process.exit(1)
}

const isInstalled = () => {
  const installed = join(modules, ".package-lock.json")
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(bench, "package-lock.json")).mtimeMs
}

const library = join(bench, "out", "library")

const link = () => {
  const name = join(modules, "effect-nutrition-advisor")
  rmSync(name, { force: true, recursive: true })
  symlinkSync(windows ? library : join("..", "out", "library"), name, "junction")
}

const typescript = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")

const compile = (name, ...args) => step(name, process.execPath, [typescript, ...args])

rmSync(join(bench, "out"), { force: true, recursive: true })
if (!isInstalled()) {
  const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  step("The installation of the peers", "npm", install, { shell: windows })
}
step("The build of the library", process.execPath, [join(root, "scripts", "build.mjs"), "--out", join(library, "dist")])
cpSync(join(root, "package.json"), join(library, "package.json"))
link()
compile("The compilation of the benchmark", "-p", join(bench, "tsconfig.json"))

const edition = join(root, "editions", "effect-4")

/** What a client of the edition is made of, in the package that the edition is built as: it finds itself by its name. */
const parts = ["client.ts", "Watch.ts", "payload.ts", "orders.ts"].concat(
  ["Client", "Exchange", "fibers", "handWritten", "names", "ours", "promised"].map((name) =>
    join("clients", `${name}.ts`)
  )
)

const compileForEffect4 = async () => {
  step("The build of the edition", "npm", ["run", "effect-4"], { cwd: root, shell: windows })
  const { describe, translateFolder } = await import("../editions/effect-4/codemod/main.mjs")
  const folder = join(edition, "out", "bench")
  const problems = translateFolder(bench, folder, parts)
  for (const problem of problems) console.error(describe(problem))
  if (problems.length > 0) process.exit(1)
  // Unchecked: names.ts names clients that the edition has no part in, which nobody loads there.
  const options = { noCheck: true, outDir: ".", rootDir: "." }
  const config = { extends: "../tsconfig.base.json", compilerOptions: options, files: ["client.ts"] }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
  compile("The compilation for Effect 4", "-p", join(folder, "tsconfig.json"))
}

const isOnEffect4 = process.argv.includes("--effect-4")

if (isOnEffect4) await compileForEffect4()

const node = isOnEffect4 ? (await import("../editions/effect-4/node.mjs")).findNode() : process.execPath

step("The benchmark", node, [join(bench, "out", "main.js"), ...process.argv.slice(2)])
