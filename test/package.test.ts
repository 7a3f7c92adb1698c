import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { beforeAll } from "vitest"

const script = fileURLToPath(new URL("../scripts/consume.mjs", import.meta.url))

interface Run {
  readonly code: number | null
  readonly lines: ReadonlyArray<string>
  readonly complaints: string
}

const consume = () =>
  new Promise<Run>((resolve, reject) => {
    const child = spawn(process.execPath, [script])
    const output = { stdout: "", stderr: "" }
    child.stdout.on("data", (text) => output.stdout += text)
    child.stderr.on("data", (text) => output.stderr += text)
    child.on("error", reject)
    child.on("close", (code) =>
      resolve({
        code,
        lines: output.stdout.split("\n").filter((line) => line !== ""),
        complaints: output.stderr
      }))
  })

describe("the package", () => {
  let run: Run

  beforeAll(async () => {
    run = await consume()
  }, 240_000)

  it("works in an empty project", () => {
    expect({ code: run.code, complaints: run.complaints }).toEqual({ code: 0, complaints: "" })
  })

  it.each([
    "builds",
    "packs",
    "holds every target of its exports",
    "exports every module",
    "holds a README and a license",
    "holds no tests",
    "holds no secrets",
    "holds nothing that an earlier build left",
    "installs with the required peers alone",
    "type-checks the consumer under NodeNext",
    "type-checks the consumer under ESNext and Bundler",
    "runs the consumer and finds food on the simulator",
    "refuses the import of an internal module",
    "answers the import of every entry with one sentence where the condition is browser",
    "refuses the import of a file by its path"
  ])("%s", (title) => {
    expect(run.lines).toContain(`ok ${title}`)
  })
})
