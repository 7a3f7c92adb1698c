/**
 * `node editions/effect-4/test.mjs [FILE ...]`: runs the translated tests of `out/`, on this Node where it is 22.19 or newer, else on
 * the one that the edition installs. `--system` runs those of test/system.
 */
import { spawnSync } from "node:child_process"
import { delimiter, dirname, join } from "node:path"
import { findNode } from "./node.mjs"

const edition = import.meta.dirname

const node = findNode()

const given = process.argv.slice(2).filter((argument) => argument !== "--system")

const isSystem = process.argv.includes("--system")

const { status } = spawnSync(
  node,
  [
    join(edition, "node_modules", "vitest", "vitest.mjs"),
    "run",
    // As `npm test` does: workers that stay load the library once.
    ...(isSystem || given.length > 0 ? [] : ["--exclude", "test/system/**", "--no-isolate", "--maxWorkers=4"]),
    ...(isSystem && given.length === 0 ? ["test/system"] : given)
  ],
  {
    cwd: join(edition, "out"),
    // Scripts that a test starts by their name run on this Node, too.
    env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) },
    stdio: "inherit"
  }
)

process.exit(status ?? 1)
