/**
 * `npm run bench -- [--quick] [--only throughput,token] [--clients undici,ours] [--levels 64] [--rounds 3] [--millis 1000]
 * [--profile folder] [--flags=--trace-gc] [--write] [--draw]`: installs the peers, builds a copy of the library that nobody else
 * rebuilds meanwhile, compiles the benchmark against it by its name, and runs it.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, rmSync, statSync, symlinkSync } from "node:fs"
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
step("The benchmark", process.execPath, [join(bench, "out", "main.js"), ...process.argv.slice(2)])
