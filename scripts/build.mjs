/** `node scripts/build.mjs [--out dist]`: what the package ships. tsc writes each module, and the simulator's page becomes one file. */
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } })

const out = resolve(values.out)

rmSync(out, { force: true, recursive: true })

const typescript = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc")
const args = [typescript, "-p", join(root, "tsconfig.build.json"), "--outDir", out]
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" })
if (status !== 0) process.exit(1)

const { assemble } = await import(pathToFileURL(join(out, "testing", "simulator", "page", "document.js")).href)
const assets = join("testing", "simulator", "page", "assets")
const page = assemble(pathToFileURL(join(root, "src", assets, "page.html")))
mkdirSync(join(out, assets))
writeFileSync(join(out, assets, "page.html"), page)
