import { execFile, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { parseCircular, parseDependencyTree } from "dpdm"
import { beforeAll } from "vitest"
import { relativeLinksOf } from "../readme/blocks.js"
import * as Runtime from "./runtimes/Runtime.js"

const repository = fileURLToPath(new URL("../..", import.meta.url))

const script = fileURLToPath(new URL("../../scripts/consume.mjs", import.meta.url))

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifest: Manifest = JSON.parse(readFileSync(`${repository}/package.json`, "utf8"))

const mcp = "effect-nutrition-advisor-mcp"

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
  const versions = new Map<Runtime.Runtime, string>()

  beforeAll(async () => {
    const args: Array<string> = []
    for (const runtime of runtimes) {
      const found = await Runtime.find(runtime)
      if (found === undefined) continue
      const name = `${runtime.name.split(" ")[0]} ${found.version}`
      versions.set(runtime, name)
      args.push("--runtime", `${name}=${found.executable}`)
    }
    run = await consume(args)
    for (const line of run.lines.filter((line) => line.startsWith("figure "))) {
      console.log(`the package: ${line.slice(7)}`)
    }
  }, 480_000)

  it("works in an empty project", () => {
    expect({ code: run.code, complaints: run.complaints }).toEqual({ code: 0, complaints: "" })
  })

  it.each([
    "builds",
    "packs",
    "holds every target of its exports",
    "holds every target of its bin, each a script for Node",
    "is clean for publint",
    "has types that resolve at every entry",
    "exports every module",
    "holds a README and a license",
    "holds no tests",
    "holds no secrets",
    "holds nothing that an earlier build left",
    "installs with the required peers alone",
    "brings nothing but its peers and minisearch",
    "bundles into a client that runs",
    "type-checks the consumer under NodeNext",
    "type-checks the consumer under ESNext and Bundler",
    "runs the consumer and finds food on the simulator",
    "runs the first programs of README as printed",
    "needs the page of the simulator for nothing else",
    "refuses the import of an internal module",
    "answers the import of every entry with one sentence where the condition is browser",
    "refuses the import of a file by its path",
    "installs with the optional peers",
    "type-checks the consumer of every entry under NodeNext",
    "type-checks the consumer of every entry under ESNext and Bundler",
    "runs the consumer of every entry and finds food on the simulator",
    "tells how to use effect-nutrition-advisor-mcp where it is asked for help",
    "tells how to use effect-nutrition-advisor-simulator where it is asked for help",
    "installs with the peer of its simulator alone",
    "serves by effect-nutrition-advisor-simulator with nothing else",
    "serves by effect-nutrition-advisor-mcp with its peers",
    "says by effect-nutrition-advisor-mcp what to install where @effect/ai is missing"
  ].filter((title) => mcp in manifest.bin || !title.includes(mcp)))("%s", (title) => {
    expect(run.lines).toContain(`ok ${title}`)
  })

  for (const runtime of runtimes) {
    const programs = Runtime.nodes.includes(runtime)
      ? ["the consumer of every entry", "the first program of README"]
      : ["the main example"]
    for (const program of programs) {
      it(`runs ${program} on ${runtime.name}`, ({ skip }) => {
        expect(run.lines).toContain(`ok runs ${program} on ${versions.get(runtime) ?? skip()}`)
      })
    }
  }

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

describe("the modules", () => {
  it("import nothing in a circle, not even a type", async () => {
    const sources = readdirSync(fileURLToPath(new URL("../../src", import.meta.url)), {
      recursive: true,
      encoding: "utf8"
    })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `src/${name}`)
    const tree = await parseDependencyTree(sources, { context: repository })
    expect(Object.keys(tree)).toEqual(expect.arrayContaining(sources))
    expect(parseCircular(tree)).toEqual([])
  })
})
