/** The package as users get it: packed, installed in an empty project, type-checked, bundled and run. */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { repository } from "../support/documents/blocks.js"

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, unknown>>
}

const manifest: Manifest = JSON.parse(await readFile(join(repository, "package.json"), "utf8"))

const optional = Object.keys(manifest.peerDependenciesMeta)

const required = Object.keys(manifest.peerDependencies).filter((peer) => !optional.includes(peer))

const modules = (await readdir(join(repository, "src"))).filter((file) => /^[A-Z]\w+\.ts$/.test(file))

/** Those that need no optional peer, and the others. */
const lean = [
  "",
  ...modules.map((file) => `/${file.replace(".ts", "")}`),
  "/promise",
  "/testing",
  "/testing/NutritionAdvisorTest",
  "/testing/Simulator",
  "/ai/FoodSearchTool"
].map((path) => manifest.name + path)

const full = [
  "/undici",
  "/undici/UndiciClient",
  "/redis",
  "/ai",
  "/ai/NutritionAdvisorMcp",
  "/ai/NutritionAdvisorTools"
].map((path) => manifest.name + path)

const run = async (cwd: string, command: string, ...args: ReadonlyArray<string>) =>
  (await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 })).stdout

const node = (cwd: string, program: string, ...options: ReadonlyArray<string>) =>
  run(cwd, process.execPath, ...options, "--input-type=module", "--eval", program)

const withoutFetch = ["--no-experimental-fetch"].filter((option) => process.allowedNodeEnvironmentFlags.has(option))

let work = ""
let project = ""
let tarball = ""
let files: ReadonlyArray<string> = []

const install = (peers: ReadonlyArray<string>) =>
  run(
    project,
    "npm",
    ...["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
    ...peers.map((name) => `${name}@${manifest.devDependencies[name]}`)
  )

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "package-"))
  project = join(work, "project")
  await mkdir(project)
  await run(repository, "npm", "run", "build")
  const packed = await run(repository, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", work)
  const [{ filename, files: all, size, unpackedSize }] = JSON.parse(packed)
  tarball = join(work, filename)
  files = all.map(({ path }: { readonly path: string }) => path)
  console.log(`the package: ${size} bytes, ${unpackedSize} unpacked`)
  await writeFile(
    join(project, "package.json"),
    JSON.stringify({ name: "user", type: "module", dependencies: { [manifest.name]: `file:${tarball}` } })
  )
  await install([...required, "typescript"])
}, 300_000)

afterAll(() => rm(work, { recursive: true, force: true }))

const bundle = (contents: string, platform: "browser" | "node") =>
  build({
    absWorkingDir: project,
    bundle: true,
    format: "esm",
    logLevel: "silent",
    metafile: true,
    minify: true,
    platform,
    stdin: { contents, resolveDir: project },
    write: false
  })

/** The bytes of this package in a program that is bundled with all it needs. */
const ownBytes = async (contents: string) => {
  const { metafile } = await bundle(contents, "node")
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
  return inputs
    .filter(([path]) => path.includes(`node_modules/${manifest.name}/`))
    .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
}

/** Writes the declarations of `user.ts`. Returns what the compiler reports. */
const compile = async (options: object): Promise<string> => {
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM", "DOM.Iterable", "ESNext.Disposable"],
    strict: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    emitDeclarationOnly: true,
    types: [],
    ...options
  }
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["user.ts"] }))
  return run(project, process.execPath, "node_modules/typescript/bin/tsc").catch(({ stdout }) => stdout)
}

const declarations = () => readFile(join(project, "user.d.ts"), "utf8")

describe("the package", () => {
  it("it contains the docs but no tests, and its only dependency is a package of types", () => {
    for (const path of ["README.md", "LICENSE", "CHANGELOG.md", "docs/errors.md"]) expect(files).toContain(path)
    expect(files.filter((path) => /(^|\/)test\/|\.test\.|\.env|\.npmrc/.test(path))).toEqual([])
    expect(Object.keys(manifest.dependencies)).toEqual(["@standard-schema/spec"])
  })

  it("publint reports no problems", async () => {
    expect(await run(repository, "npm", "exec", "--no", "--", "publint", "run", tarball, "--strict")).toContain(
      "All good!"
    )
  })

  it("a search works with only the required peers", async () => {
    const found = await node(
      project,
      `import { Effect, Layer } from "effect"
      import { NutritionAdvisor } from "${manifest.name}"
      import { Simulator } from "${manifest.name}/testing"
      const { baseUrl, licenseKey, layerHttpClient } = Simulator
      const Advisor = Layer.provide(NutritionAdvisor.layer({ baseUrl, licenseKey }), layerHttpClient())
      console.log(JSON.stringify(await Effect.runPromise(Effect.provide(NutritionAdvisor.search("oats"), Advisor))))`
    )
    expect(JSON.parse(found)).toHaveProperty("results.0.name", expect.stringMatching(/oats/i))
  })

  it.each<readonly [string, ReadonlyArray<string>]>([
    ["", []],
    [" without fetch", withoutFetch]
  ])("each module loads with import and require%s, and internal modules don't load", async (_, options) => {
    const loaded = await node(
      project,
      `import { createRequire } from "node:module"
      const require = createRequire(import.meta.url)
      for (const name of ${JSON.stringify(lean)}) {
        if (Object.keys(await import(name)).length === 0 || Object.keys(require(name)).length === 0) console.log(name)
      }
      for (const path of ["internal/settings", "promise/Client", "browser", "index"]) {
        await import("${manifest.name}/" + path).then(() => console.log(path), ({ code }) => code)
      }`,
      ...options
    )
    expect(loaded).toBe("")
  })

  const undiciSearch = `import { createClient } from "${manifest.name}/promise"
    import { UndiciClient } from "${manifest.name}/undici"
    const settings = { baseUrl: "https://nutrition.example", licenseKey: "key" }
    await createClient({ ...settings, httpClient: UndiciClient.layer() }).search("oats")`

  it.each<readonly [string, ReadonlyArray<string>, RegExp]>([
    [
      "a search over UndiciClient",
      ["--input-type=module", "--eval", undiciSearch],
      /\nConfigurationError: .*UndiciClient: npm install @effect\/platform-node@\^0\.108\.\n/
    ],
    [
      "effect-nutrition-advisor-simulator",
      ["node_modules/.bin/effect-nutrition-advisor-simulator"],
      /^[^\n]*npm install @effect\/platform-node@\^0\.108\n$/
    ],
    [
      "effect-nutrition-advisor-mcp",
      ["node_modules/.bin/effect-nutrition-advisor-mcp", "--simulator"],
      /^[^\n]*npm install @modelcontextprotocol\/server@\^2\.4\n$/
    ]
  ])("%s fails without its optional peer, and says what to install", async (_, args, stderr) => {
    await expect(run(project, process.execPath, ...args)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(stderr)
    })
  })

  it.each([
    ["NodeNext", "NodeNext"],
    ["Bundler", "ESNext"],
    ["Node10", "CommonJS"]
  ])("the types compile with %s resolution, without @types/node", async (resolution, module) => {
    const imports = lean.filter((name) => !name.includes("/testing"))
      .map((name, index) => `import * as entry${index} from "${name}"`)
    const uses = imports.map((_, index) => `entry${index}`).join(", ")
    await writeFile(
      join(project, "user.ts"),
      `${imports.join("\n")}
      import type { NutritionAdvisor, TokenProvider } from "${manifest.name}"
      import { type Client, type ClientOptions, createClient } from "${manifest.name}/promise"
      export const made = { createClient }
      export const all: ReadonlyArray<object> = [${uses}]
      export const withDefaults = (own: NutritionAdvisor.Options) => ({ userAgent: "own", ...own })
      export const withName = (own: ClientOptions) => ({ userAgent: "own", ...own })
      export const searchAsOf = ({ searchAs }: Client) => ({ searchAs })
      export const searchOf = ({ search, searchAs }: NutritionAdvisor.Service) => ({ search, searchAs })
      export const lastFailureOf = ({ lastFailure }: TokenProvider.TokenStatus) => ({ lastFailure })\n`
    )
    expect(await compile({ module, moduleResolution: resolution, skipLibCheck: false })).toBe("")
    const declared = await declarations()
    expect(declared).toContain("NutritionAdvisor.AnySchema")
    expect(declared).not.toContain("/internal/")
  }, 120_000)

  it("it adds less than 1 kB to a bundled program that uses only AccessToken", async () => {
    const bytes = await ownBytes(`export { make } from "${manifest.name}/AccessToken"`)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(1_000)
  })

  it.each([...lean, ...full])("%s fails in a browser with a one-sentence error", async (name) => {
    const { outputFiles } = await bundle(`import "${name}"`, "browser")
    await expect(node(project, outputFiles[0]?.text ?? "")).rejects.toHaveProperty(
      "stderr",
      expect.stringContaining(
        "effect-nutrition-advisor runs on servers only: in a browser the license key would be visible to everyone."
      )
    )
  })

  describe("with its optional peers", () => {
    beforeAll(() => install(optional.filter((name) => name in manifest.devDependencies)), 180_000)

    it("the modules that need them load", async () => {
      const program = full.map((name) => `import * as entry from "${name}"; console.log(Object.keys(entry).length > 0)`)
      for (const text of program) expect((await node(project, text)).trim()).toBe("true")
    })

    it("if a program re-exports functions, its declarations refer only to modules that can be imported", async () => {
      const spread = lean.filter((name) => !name.includes("/testing")).map((name, index) =>
        `import * as entry${index} from "${name}"\nexport const all${index} = { ...entry${index} }\n`
      )
      await writeFile(
        join(project, "helpers.ts"),
        `${spread.join("")}
        import { NutritionAdvisorMcp, NutritionAdvisorTools } from "${manifest.name}/ai"
        import { RedisTokenCache } from "${manifest.name}/redis"
        import { NutritionAdvisorTest, Simulator } from "${manifest.name}/testing"
        import { UndiciClient } from "${manifest.name}/undici"
        export const mcp = { ...NutritionAdvisorMcp }
        export const tools = { ...NutritionAdvisorTools }
        export const redis = { ...RedisTokenCache }
        export const double = { ...NutritionAdvisorTest }
        export const simulator = { ...Simulator }
        export const undici = { ...UndiciClient }
        export const foodsOf = ({ foods }: Simulator.Options) => foods\n`
      )
      await writeFile(
        join(project, "user.ts"),
        `import * as helpers from "./helpers.js"\nexport const all = { ...helpers }\n`
      )
      expect(await compile({ moduleResolution: "NodeNext", module: "NodeNext", skipLibCheck: true })).toBe("")
      const named = new Set((await declarations()).match(/(?<=import\(")[^"]*/g))
      expect(named).toContain(`${manifest.name}/testing/Simulator`)
      await node(project, `for (const name of ${JSON.stringify([...named])}) import.meta.resolve(name)`)
    }, 120_000)
  })
})
