/** `node scripts/build.mjs [--out dist]`: what the package ships: the modules, and the files of the simulator's page. */
import { spawnSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } })

const out = resolve(values.out)

rmSync(out, { force: true, recursive: true })

const typescript = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")
const args = [typescript, "-p", join(root, "tsconfig.build.json"), "--outDir", out]
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" })
if (status !== 0) process.exit(1)

const assets = join("testing", "simulator", "page", "assets")
cpSync(join(root, "src", assets), join(out, assets), { recursive: true })
