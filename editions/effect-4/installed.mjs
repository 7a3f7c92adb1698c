/**
 * `node editions/effect-4/installed.mjs [NODE ...]`: installs the package of `pack/` with Effect 4 in an empty folder, and runs
 * README's first program there, on each Node that is given, else on the one that the edition installs.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const edition = import.meta.dirname

const [archive] = readdirSync(join(edition, "pack")).filter((name) => name.endsWith(".tgz"))

const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(edition, "out", "README.md"), "utf8")) ?? []

const { devDependencies: { effect } } = JSON.parse(readFileSync(join(edition, "package.json"), "utf8"))

const nodes = process.argv.length > 2
  ? process.argv.slice(2).map((path) => resolve(path))
  : [join(edition, "node_modules", `node-linux-${process.arch}`, "bin", "node")]

const folder = mkdtempSync(join(tmpdir(), "installed-"))
try {
  writeFileSync(join(folder, "package.json"), "{}")
  writeFileSync(join(folder, "search.mjs"), program)
  const install = [
    "install",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    join(edition, "pack", archive),
    `effect@${effect}`
  ]
  execFileSync("npm", install, { cwd: folder, stdio: "inherit" })
  for (const node of nodes) {
    const printed = execFileSync(node, ["search.mjs"], { cwd: folder, encoding: "utf8", timeout: 60_000 })
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim()
    if (!/name: '[^']*[Oo]at/.test(printed)) {
      throw new Error(`On Node ${version} README's first program printed ${printed}`)
    }
    console.log(`README's first program finds food on Node ${version}.`)
  }
} finally {
  rmSync(folder, { force: true, recursive: true })
}
