import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { SharedTokenCacheLaws } from "effect-nutrition-advisor/testing"
import { afterAll, describe, expect, it } from "vitest"
import { blocksOf } from "../readme/blocks.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const [, section = ""] = readFileSync(join(repository, "docs/sharing.md"), "utf8").split(
  "\n## Test a cache of your own"
)

const codeWith = (text: string) =>
  blocksOf(section).find(({ code, language }) => language === "ts" && code.includes(text))?.code ?? ""

const folder = mkdtempSync(join(tmpdir(), "laws-in-docs-"))

symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "junction")

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fileOf = (name: string, code: string) => {
  const file = join(folder, name)
  writeFileSync(file, code)
  return file
}

const run = (name: string, code: string, ...flags: ReadonlyArray<string>) =>
  promisify(execFile)(process.execPath, ["--import", "tsx", ...flags, fileOf(name, code)], { cwd: repository })

/** The laws as vitest runs them. */
describe.concurrent("docs/sharing.md, with vitest", async () => {
  await import(/* @vite-ignore */ fileOf("vitest.ts", codeWith("@effect/vitest")))
})

describe.concurrent("docs/sharing.md", () => {
  it("has a test a law with node:test", async () => {
    const { stdout } = await run("node.test.mts", codeWith("node:test"), "--test", "--test-reporter=tap")
    expect(stdout).toContain(`# pass ${SharedTokenCacheLaws.laws.length}\n# fail 0`)
  })

  it("has a program that prints nothing where every law holds", async () => {
    const { stderr, stdout } = await run("program.mts", codeWith("console.log"))
    expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "" })
  })

  it("has a program that prints the laws that are broken", async () => {
    const flawed = `
      const flawed = Layer.effect(SharedTokenCache.SharedTokenCache, Effect.gen(function*() {
        return { ...(yield* SharedTokenCache.SharedTokenCache), release: () => Effect.succeed(true) }
      })).pipe(Layer.provide(SharedTokenCache.layerMemory))`
    const code = codeWith("console.log")
      .replace("import { Effect }", "import { Effect, Layer }")
      .replace("\nconst laws", `${flawed}\nconst laws`)
      .replace("(broken, SharedTokenCache.layerMemory)", "(broken, flawed)")
    const { stdout } = await run("flawed.mts", code)
    expect(stdout).toContain("release leaves the lease of anyone else: release by another told true and not false.\n")
  })
})
