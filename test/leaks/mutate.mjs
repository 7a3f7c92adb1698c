/**
 * Breaks the boundary in one place at a time, each in a copy of the repository, and requires that the leak suite turns red.
 * Prints one line a mutation. An argument picks the mutations whose names contain it.
 */
import { execFile } from "node:child_process"
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { tsImport } from "tsx/esm/api"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const copied = [
  "package.json",
  "src",
  "test",
  "tsconfig.base.json",
  "tsconfig.json",
  "vitest.config.ts"
]

const suite = [
  "test/leaks/errors.test.ts",
  "test/leaks/fibers.test.ts",
  "test/leaks/unhandled.test.ts",
  "test/leaks.test.ts",
  "test/boundaries.test.ts",
  "test/internal/http/buffered.test.ts",
  "test/leaks/rotation.test.ts",
  "test/NutritionAdvisor.tenants.test.ts",
  "test/NutritionAdvisor.context.test.ts",
  "test/internal/request/authorized.test.ts",
  "test/promise/Client.test.ts"
]

const run = promisify(execFile)

const vitest = fileURLToPath(import.meta.resolve("vitest/vitest.mjs"))

/**
 * How many tests failed. A suite that a mutation brings down, by its memory for one, is red; one that could not be run at all is
 * an error.
 */
const failures = async (folder) => {
  const report = join(folder, "report.json")
  const settings = {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: "--max-old-space-size=1024" },
    maxBuffer: 256 * 1024 * 1024
  }
  const output = await run(
    process.execPath,
    [vitest, "run", "--bail=1", "--testTimeout=120000", "--reporter=json", `--outputFile=${report}`, ...suite],
    settings
  ).then(({ stderr }) => stderr, ({ stderr }) => stderr)
  const text = await readFile(report, "utf8").catch(() => undefined)
  if (text === undefined) return { failed: 1, first: `the suite broke off: ${output.trim().split("\n")[0]}` }
  const { numFailedTests, numPassedTests, testResults } = JSON.parse(text)
  if (numFailedTests + numPassedTests === 0) throw new Error(`the suite ran no test\n${output}`)
  const failed = testResults.flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === "failed")
  return { failed: numFailedTests, first: failed?.fullName }
}

const inCopy = async (use) => {
  const folder = await mkdtemp(join(tmpdir(), "leaks-"))
  try {
    await Promise.all(copied.map((name) => cp(join(repository, name), join(folder, name), { recursive: true })))
    await symlink(join(repository, "node_modules"), join(folder, "node_modules"), "junction")
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const partsOf = async (folder, { file, find, name }) => {
  const parts = (await readFile(join(folder, file), "utf8")).split(find)
  if (parts.length !== 2) throw new Error(`${name}: found ${parts.length - 1} times in ${file}, not once: ${find}`)
  return parts
}

const apply = async (folder, mutation) =>
  writeFile(join(folder, mutation.file), (await partsOf(folder, mutation)).join(mutation.replace))

const { mutations } = await tsImport("./mutations.ts", import.meta.url)
const picked = mutations.filter(({ name }) => name.includes(process.argv[2] ?? ""))

for (const mutation of mutations) await partsOf(repository, mutation)

const untouched = await inCopy(failures)
if (untouched.failed > 0) throw new Error(`the suite is red without a mutation: ${untouched.first}`)
console.log("green     no mutation")

for (const mutation of picked) {
  const { failed, first } = await inCopy(async (folder) => {
    await apply(folder, mutation)
    return failures(folder)
  })
  console.log(failed > 0 ? `red       ${mutation.name} (${first})` : `SURVIVED  ${mutation.name}`)
  if (failed === 0) process.exitCode = 1
}
