/**
 * `node editions/effect-4/installed.mjs`: runs the install command of the README in an empty folder, with the package in `pack/`, and then
 * the first program of the README, on Node 22 and 24.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const edition = import.meta.dirname

const [archive] = readdirSync(join(edition, "pack")).filter((name) => name.endsWith(".tgz"))

const readme = readFileSync(join(edition, "out", "README.md"), "utf8")

const [, program] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []

const { name, publishConfig } = JSON.parse(readFileSync(join(edition, "package.json"), "utf8"))

const [, command = ""] = /^npm (install .*)$/m.exec(readme) ?? []

const nodeName = `node-linux-${process.arch}`

const folder = mkdtempSync(join(tmpdir(), "installed-"))
try {
  writeFileSync(join(folder, "package.json"), "{}")
  writeFileSync(join(folder, "search.mjs"), program)
  const published = `${name}@${publishConfig.tag}`
  if (!command.includes(published)) throw new Error(`The README doesn't install ${published}`)
  const words = command.split(" ").map((word) => word === published ? join(edition, "pack", archive) : word)
  execFileSync("npm", [...words, `${nodeName}@22.23.3`, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit"
  })
  for (const installed of [folder, edition]) {
    const node = join(installed, "node_modules", nodeName, "bin", "node")
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim()
    const printed = execFileSync(node, ["search.mjs"], { cwd: folder, encoding: "utf8", timeout: 60_000 })
    if (!/name: '[^']*[Oo]at/.test(printed)) {
      throw new Error(`On Node ${version} README's first program printed ${printed}`)
    }
    console.log(`README's first program finds food on Node ${version}.`)
  }
} finally {
  rmSync(folder, { force: true, recursive: true })
}
