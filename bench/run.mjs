/**
 * `npm run bench -- [--only throughput,pairs,storms,memory,clients,bundle,fleet] [--pairs ours-fibers] [--base COMMIT] [--quick] [--write]`: what a
 * search costs, beside five peers. `--base` compiles an older commit, and the pairs then measure it beside this one in the same run. With
 * `BENCH_CHUNKED=1` no answer of the server names its length.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { build } from "esbuild"
import { endAll, pinning } from "./processes.mjs"
import * as scenarios from "./scenarios.mjs"

const bench = import.meta.dirname

const root = join(bench, "..")

const out = join(bench, "out")

const { values } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(scenarios).join() },
    pairs: { type: "string" },
    base: { type: "string" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})

const sourcesOf = (folder) =>
  readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".ts")).map((path) => join(folder, path))

/** Each module by itself, as the package ships them. */
const compile = async (name, folder) => {
  const outdir = join(out, name)
  await build({ entryPoints: sourcesOf(folder), outdir, outbase: folder, format: "esm", target: "node20" })
  return outdir
}

const compileBase = async (commit) => {
  const folder = join(out, "base-source")
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync("git", ["archive", commit, "src"], { cwd: root, maxBuffer: 64 * 1024 * 1024 })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
  return compile("base", join(folder, "src"))
}

const tableOf = ({ columns, rows, title }) =>
  [`### ${title}`, "", ...[columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`), ""].join(
    "\n"
  )

rmSync(out, { recursive: true, force: true })
if (!existsSync(join(bench, "node_modules"))) {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: bench, stdio: "inherit" })
}

const versionOf = (name) => {
  const path = [bench, root].map((folder) => join(folder, "node_modules", name, "package.json")).find(existsSync)
  return `${name} ${JSON.parse(readFileSync(path, "utf8")).version}`
}

const { dependencies } = JSON.parse(readFileSync(join(bench, "package.json"), "utf8"))

const names = ["effect", "@effect/platform", "@effect/platform-node", "undici", ...Object.keys(dependencies)]

const began = new Date()

const plan = {
  libraries: {
    own: await compile("own", join(root, "src")),
    ...(values.base === undefined ? {} : { base: await compileBase(values.base) })
  },
  out,
  root,
  millis: values.quick ? 400 : 1_000,
  only: values.pairs?.split(","),
  processes: values.quick ? 1 : 6,
  rounds: values.quick ? 2 : 5,
  searches: values.quick ? 50_000 : 1_000_000,
  say: (progress) => process.stderr.write(`${progress}\n`)
}

try {
  const tables = []
  for (const name of values.only.split(",")) tables.push(...await scenarios[name](plan))
  const text = [
    `${began.toISOString().slice(0, 10)}: ${cpus().length} cores, ${
      cpus()[0].model
    }, ${pinning}; Node ${process.versions.node}, ${names.map(versionOf).join(", ")}.${
      values.base === undefined ? "" : ` The base is ${values.base}.`
    }`,
    "",
    ...tables.map(tableOf)
  ].join("\n")
  console.log(text)
  const mark = "<!-- written by `npm run bench -- --write` -->\n\n"
  if (values.write) {
    const path = join(bench, "RESULTS.md")
    writeFileSync(path, readFileSync(path, "utf8").split(mark)[0] + mark + text)
  }
} catch (error) {
  endAll()
  console.error(error)
  process.exitCode = 1
}
