/**
 * `npm run bench -- [--only throughput,pairs,storms,memory,clients,bundle,fleet] [--pairs ours-fibers,…] [--base COMMIT] [--quick] [--write]`
 * measures what a search costs. With `--base`, the pairs compare the library with an older commit instead of hand-written code. `--write`
 * puts the tables into RESULTS.md. With `BENCH_CHUNKED=1`, the responses of the server don't state their length.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { build } from "esbuild"
import { killAll, pinning } from "./processes.mjs"
import * as scenarios from "./scenarios.mjs"

const bench = import.meta.dirname

const root = join(bench, "..")

const out = join(bench, "out")

const { values } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(scenarios).join() },
    pairs: {
      type: "string",
      default: "ours-fibers,ours-runPromise,ours-createClient,ours-over-fetch,ours-over-undici"
    },
    base: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})

const selected = values.only.split(",")

/** Compiles each module by itself, as the package ships them. */
const compile = async (name, folder) => {
  const outdir = join(out, name)
  const sources = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".ts"))
  const entryPoints = sources.map((path) => join(folder, path))
  await build({ entryPoints, outdir, outbase: folder, format: "esm", target: "node20" })
  return outdir
}

const compileCommit = async (commit) => {
  const folder = join(out, "base-source")
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync("git", ["archive", commit, "src"], { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
  return compile("base", join(folder, "src"))
}

const peers = Object.keys(JSON.parse(readFileSync(join(bench, "package.json"), "utf8")).dependencies)

const usesPeers = selected.includes("throughput") || selected.includes("storms")

rmSync(out, { recursive: true, force: true })
if (usesPeers && !existsSync(join(bench, "node_modules"))) {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: bench, stdio: "inherit" })
}

const versionOf = (name) => {
  const path = [bench, root].map((folder) => join(folder, "node_modules", name, "package.json")).find(existsSync)
  return `${name} ${JSON.parse(readFileSync(path, "utf8")).version}`
}

const packages = ["effect", "@effect/platform", "@effect/platform-node", "undici", ...usesPeers ? peers : []]

const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: root, encoding: "utf8" }).trim()

const measured = values.base === undefined ? commit : `${commit}, compared with ${values.base}`

const environment = [
  `${new Date().toISOString().slice(0, 10)}, commit ${measured}.`,
  `${cpus().length} × ${cpus()[0].model}, ${pinning}.`,
  `Node ${process.versions.node}, ${packages.map(versionOf).join(", ")}.`
].join(" ")

const sectionOf = ({ columns, rows, title }) => {
  const table = [columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`)
  return [`## ${title}`, "", environment, "", ...table, ""].join("\n")
}

/** Replaces the sections of RESULTS.md that were measured again, and keeps the others. */
const write = (sections) => {
  const path = join(bench, "RESULTS.md")
  const [introduction, ...old] = readFileSync(path, "utf8").split(/^(?=## )/m)
  const byTitle = new Map([...old, ...sections].map((section) => [section.split("\n", 1)[0], section]))
  writeFileSync(path, `${introduction}${[...byTitle.values()].map((section) => section.trim()).join("\n\n")}\n`)
}

const plan = {
  libraries: {
    own: await compile("own", join(root, "src")),
    ...values.base !== undefined && { base: await compileCommit(values.base) }
  },
  out,
  root,
  isQuick: values.quick,
  names: values.pairs.split(","),
  log: (progress) => process.stderr.write(`${progress}\n`)
}

try {
  const sections = []
  for (const name of selected) sections.push(...(await scenarios[name](plan)).map(sectionOf))
  console.log(sections.join("\n"))
  if (values.write) write(sections)
} catch (error) {
  killAll()
  console.error(error)
  process.exitCode = 1
}
