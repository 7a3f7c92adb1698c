/**
 * `node editions/effect-4/build.mjs [--only translate|check]`: translates src, tests, examples and the code in the documents into
 * `out/`, formats, checks the types of src, tests and examples, builds `out/dist`, writes the API reference anew, and packs all into
 * `pack/`. Nothing of it is committed.
 */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { describe, layOver, translateFolder } from "./codemod/main.mjs"
import { adaptDocuments } from "./documents.mjs"
import { findNode } from "./node.mjs"

const edition = import.meta.dirname
const root = join(edition, "..", "..")
const out = join(edition, "out")
const pack = join(edition, "pack")

const { values: { only } } = parseArgs({ options: { only: { type: "string" } } })

const read = (path) => JSON.parse(readFileSync(path, "utf8"))

const run = (command, args, cwd, env = process.env) => {
  const { status } = spawnSync(command, args, { cwd, env, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const tool = (name, path) =>
  join(
    [join(edition, "node_modules"), join(root, "node_modules")].map((folder) => join(folder, name)).find(existsSync),
    path
  )

/** What the edition has of its own stands in its manifest; the rest is that of the source. */
const manifest = () => {
  const { optionalDependencies: _node, private: _, ...own } = read(join(edition, "package.json"))
  const source = read(join(root, "package.json"))
  const left = Object.fromEntries(Object.entries(source.exports).filter(([name]) => name !== "./ai"))
  return {
    ...source,
    ...own,
    description: source.description,
    exports: left,
    bin: { "effect-nutrition-advisor-simulator": source.bin["effect-nutrition-advisor-simulator"] },
    scripts: { build: source.scripts.build },
    overrides: {}
  }
}

/** The version in the User-Agent and at the top of the changes is the edition's. */
const ownVersion = () => {
  const path = join(out, "src", "internal", "version.ts")
  const [source, own] = [root, edition].map((folder) => `"${read(join(folder, "package.json")).version}"`)
  const text = readFileSync(path, "utf8")
  if (!text.includes(source)) throw new Error(`${path} does not hold the version ${source}`)
  writeFileSync(path, text.replace(source, own))
  const changes = join(out, "CHANGELOG.md")
  const [was, is] = [source, own].map((version) => JSON.parse(version))
  const entry = `## ${is}\n\n- What ${was} has, for Effect 4: docs/effect-4.md says what is different.\n\n## `
  writeFileSync(changes, readFileSync(changes, "utf8").replace("## ", entry))
}

/** The configuration of the tests, with the doubles that they get in Effect 4 in place of modules. */
const ownTypes = () => {
  const path = join(out, "tsconfig.json")
  const { compilerOptions, ...rest } = read(path)
  const { "effect-nutrition-advisor/ai": _, ...own } = compilerOptions.paths
  const paths = {
    "@effect/vitest": ["./test/doubles/vitest.ts"],
    "effect/testing/TestClock": ["./test/doubles/TestClock.ts"],
    ...own
  }
  writeFileSync(path, `${JSON.stringify({ ...rest, compilerOptions: { ...compilerOptions, paths } }, null, 2)}\n`)
}

const folders = ["src", "test", "examples", "docs", "scripts", "ops"]

const files = [
  "README.md",
  "ARCHITECTURE.md",
  "SECURITY.md",
  "SERVICE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "llms.txt",
  "tsconfig.base.json",
  "tsconfig.build.json",
  "tsconfig.json",
  "vitest.config.ts",
  "eslint.config.mjs",
  "docgen.json"
]

/** Paths in backticks at the start of a row: tests and examples that the edition is without. */
const notTranslated = [
  ...readFileSync(join(edition, "not-translated.md"), "utf8").matchAll(/^\| `([^`*]+?)(?:\/\*\*)?` \|/gm)
].map(([, path]) => path)

const leftOut = [
  ...notTranslated,
  // `./ai` stands on packages that Effect 4 has taken in, and changed.
  ...["src/ai", "src/internal/ai", "docs/api/ai", "docs/agents.md"],
  // Reports about packages for Effect 3.
  ...["docs/upstream", "docs/upstream.md"]
]

const translateAll = () => {
  rmSync(out, { force: true, recursive: true })
  mkdirSync(out)
  const problems = folders.flatMap((folder) =>
    translateFolder(join(root, folder), join(out, folder)).map((problem) => ({
      ...problem,
      path: `${folder}/${problem.path}`
    }))
  )
  problems.push(...translateFolder(root, out, files))
  for (const path of leftOut) rmSync(join(out, path), { recursive: true })
  adaptDocuments(out, leftOut)
  cpSync(join(root, "bench", "results.svg"), join(out, "bench", "results.svg"))
  const mended = layOver(out)
  symlinkSync(join(edition, "node_modules"), join(out, "node_modules"), "junction")
  writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`)
  ownVersion()
  ownTypes()
  const left = problems.filter(({ path }) =>
    path.startsWith("src/") && existsSync(join(out, path)) && !mended.includes(path)
  )
  for (const problem of left) console.error(describe(problem))
  if (left.length > 0) process.exit(1)
  const tsx = tool("tsx", "dist/cli.mjs")
  for (const script of ["scripts/llms.ts", "scripts/openapi.ts"]) run(process.execPath, [tsx, script], out)
}

translateAll()
if (only === "translate") process.exit(0)
run(process.execPath, [tool("eslint", "bin/eslint.js"), "--fix", "--config", "eslint.config.mjs", "src"], out)
run(process.execPath, [tool("typescript", "bin/tsc"), "-p", "tsconfig.json", "--noEmit"], out)
if (only === "check") process.exit(0)
run(process.execPath, ["scripts/build.mjs"], out)
// It runs the examples of the JSDoc, and scripts by their name.
const node = findNode()
run(node, ["scripts/docs.mjs"], out, { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) })
rmSync(pack, { force: true, recursive: true })
mkdirSync(pack)
run("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", pack], out)
