import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import * as Runtime from "./runtimes/Runtime.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const witness = new URL("runtimes/witness.mjs", import.meta.url)

/** The modules of the main path, without those tests that start processes or let much time pass. */
const core = [
  "AccessToken",
  "NutritionAdvisor",
  "NutritionAdvisorError",
  "RefreshPolicy",
  "TokenIssuer",
  "TokenProvider.flight",
  "TokenProvider.backoff",
  "TokenProvider.renewal",
  "TokenStore"
].map((name) => `test/${name}.test.ts`)

interface Report {
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly fullName: string; readonly status: string }>
  }>
}

interface Run {
  readonly failed: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
  readonly passed: number
  /** Of Node, as every process of the run names it. */
  readonly versions: ReadonlyArray<string>
  readonly seconds: number
}

const runCore = async ({ executable }: Runtime.Found): Promise<Run> => {
  const folder = await mkdtemp(join(tmpdir(), "runtimes-"))
  const started = Date.now()
  const report = join(folder, "report.json")
  const seen = join(folder, "versions")
  try {
    const output = await new Promise<string>((resolve, reject) => {
      const child = spawn(
        executable,
        [
          join(repository, "node_modules/vitest/vitest.mjs"),
          "run",
          "--reporter=json",
          `--outputFile=${report}`,
          "--pool=forks",
          ...core
        ],
        {
          cwd: repository,
          env: { PATH: process.env["PATH"], HOME: folder, NODE_OPTIONS: `--import=${witness.href}`, WITNESS: seen }
        }
      )
      let text = ""
      child.stdout.on("data", (chunk) => text += chunk)
      child.stderr.on("data", (chunk) => text += chunk)
      child.on("error", reject)
      child.on("close", () => resolve(text))
    })
    const { numPassedTests, testResults }: Report = JSON.parse(
      await readFile(report, "utf8").catch(() => Promise.reject(new Error(output)))
    )
    return {
      failed: testResults.flatMap(({ assertionResults }) =>
        assertionResults.filter(({ status }) => status !== "passed").map(({ fullName }) => fullName)
      ),
      files: testResults.map(({ name }) => name).sort(),
      passed: numPassedTests,
      versions: [...new Set((await readFile(seen, "utf8")).trim().split("\n"))],
      seconds: Math.round((Date.now() - started) / 1000)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe("the core of the suite", () => {
  console.log(`on Node ${process.versions.node}, this one, the core runs with the rest of the suite`)

  for (const runtime of Runtime.nodes.filter((runtime) => !Runtime.isCurrent(runtime))) {
    it(`passes on ${runtime.name}`, async ({ skip }) => {
      const found = await Runtime.find(runtime) ?? skip()
      const { failed, files, passed, seconds, versions } = await runCore(found)
      console.log(`on Node ${found.version} the core passed ${passed} tests in ${seconds} s`)
      expect(failed).toEqual([])
      expect(files).toEqual(core.map((name) => join(repository, name)).sort())
      expect(passed).toBeGreaterThan(500)
      expect(versions).toEqual([runtime.source.version])
    })
  }
})
