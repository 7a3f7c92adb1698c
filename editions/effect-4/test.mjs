/**
 * `node editions/effect-4/test.mjs [FILE ...]`: runs the suite in `out/`, then replicas of both editions with one Redis, then the packed edition
 * in an empty folder. With files, it runs only these files of the suite.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { findNode } from "./node.mjs"
import { suite } from "./suite.mjs"

const edition = import.meta.dirname

const given = process.argv.slice(2)

const vitest = (cwd, args) => {
  const script = join(edition, "node_modules", "vitest", "vitest.mjs")
  const { status } = spawnSync(findNode(), [script, "run", ...args], { cwd, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

vitest(join(edition, "out"), given.length > 0 ? given : suite)
if (given.length === 0) {
  vitest(join(edition, "mixed"), ["--root", ".", "mixed.test.mjs"])
  await import("./installed.mjs")
}
