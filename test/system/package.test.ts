import { execFile, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { beforeAll } from "vitest"
import { relativeLinksOf } from "../readme/blocks.js"
import * as Runtime from "./runtimes/Runtime.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const script = fileURLToPath(new URL("../../scripts/consume.mjs", import.meta.url))

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifest: Manifest = JSON.parse(readFileSync(`${repository}/package.json`, "utf8"))

const runtimes = [...Runtime.nodes, Runtime.bun, Runtime.deno]

/**
 * In bytes, near what is measured today, so that what makes it grow is seen. A bundle through the index holds the sharing too:
 * esbuild drops nothing of a namespace that is exported again.
 */
const bounds = "@effect/platform" in manifest.peerDependencies
  ? {
    tarball: 630_000,
    unpacked: 2_400_000,
    bundle: 79_500,
    "bundle-of-module": 63_500,
    "bundle-of-leaf": 1_000
  }
  : {
    tarball: 580_000,
    unpacked: 2_200_000,
    bundle: 81_000,
    "bundle-of-module": 64_500,
    "bundle-of-leaf": 1_000
  }

interface Run {
  readonly code: number | null
  readonly lines: ReadonlyArray<string>
  readonly complaints: string
  /** What it measured: bytes, and milliseconds of a runtime. */
  readonly figures: ReadonlyMap<string, number>
}

const figuresIn = (lines: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map(lines.flatMap((line) => {
    const [, name = "", value] = /^figure (\S+) (\d+)/.exec(line) ?? []
    return value === undefined ? [] : [[name, Number(value)]]
  }))

const consume = (args: ReadonlyArray<string>) =>
  new Promise<Run>((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args])
    const output = { stdout: "", stderr: "" }
    child.stdout.on("data", (text) => output.stdout += text)
    child.stderr.on("data", (text) => output.stderr += text)
    child.on("error", reject)
    child.on("close", (code) => {
      const lines = output.stdout.split("\n").filter((line) => line !== "")
      resolve({ code, lines, complaints: output.stderr, figures: figuresIn(lines) })
    })
  })

describe("the package", () => {
  let run: Run

  beforeAll(async () => {
    const args: Array<string> = []
    for (const runtime of runtimes) {
      const found = await Runtime.find(runtime)
      if (found === undefined) continue
      args.push("--runtime", `${runtime.name.split(" ")[0]} ${found.version}=${found.executable}`)
    }
    run = await consume(args)
    for (const line of run.lines.filter((line) => line.startsWith("figure "))) {
      console.log(`the package: ${line.slice(7)}`)
    }
  }, 480_000)

  it("passes each check of scripts/consume.mjs, which prints them, in an empty project and on each runtime", () => {
    const failed = run.lines.filter((line) => line.startsWith("failed "))
    expect({ failed, complaints: run.complaints, code: run.code }).toEqual({ failed: [], complaints: "", code: 0 })
    expect(run.lines.filter((line) => line.startsWith("ok ")).length).toBeGreaterThan(25)
    expect(run.lines).toContain("ok installs with the optional peers")
  })

  it.each(Object.entries(bounds))("measures less than its bound: %s", (name, bound) => {
    expect(run.figures.get(name)).toBeLessThan(bound)
  })
})

describe("a text in the package", () => {
  it("links to what is in the package", async () => {
    const args = ["pack", "--dry-run", "--json", "--ignore-scripts"]
    const options = { cwd: repository, maxBuffer: 64 * 1024 * 1024, shell: process.platform === "win32" }
    const [packed] = JSON.parse((await promisify(execFile)("npm", args, options)).stdout)
    const files: ReadonlyArray<string> = packed.files.map(({ path }: { readonly path: string }) => path)
    const texts = files.filter((path) => /\.(md|txt)$/.test(path))
    expect(texts).toEqual(expect.arrayContaining(["README.md", "llms.txt", "docs/telemetry.md", "docs/api/README.md"]))
    const lost = texts.flatMap((path) =>
      relativeLinksOf(readFileSync(`${repository}/${path}`, "utf8")).flatMap(({ line, target }) => {
        const [file = ""] = target.split("#")
        const pointedTo = file === "" ? path : posix.join(posix.dirname(path), decodeURIComponent(file))
        const isPacked = files.some((one) => one === pointedTo || one.startsWith(`${pointedTo.replace(/\/$/, "")}/`))
        return isPacked ? [] : [`${path}:${line} ${target}`]
      })
    )
    expect(lost).toEqual([])
  })
})
