/** Packs the library and uses it as a stranger does: an empty project, the tarball, its peers. Prints one line a check. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const repository = fileURLToPath(new URL("..", import.meta.url))
const manifest = JSON.parse(await readFile(join(repository, "package.json"), "utf8"))
const optionalPeers = Object.keys(manifest.peerDependencies)
  .filter((peer) => manifest.peerDependenciesMeta?.[peer]?.optional === true)
const requiredPeers = Object.keys(manifest.peerDependencies).filter((peer) => !optionalPeers.includes(peer))

const entries = Object.keys(manifest.exports).filter((entry) =>
  manifest.exports[entry] !== null && !entry.includes("*") && entry !== "./package.json"
)

const specifier = (entry) => `${manifest.name}${entry.slice(1)}`

const run = promisify(execFile)

const node = (cwd, ...args) => run(process.execPath, args, { cwd })

const npm = (cwd, ...args) =>
  run("npm", args, { cwd, maxBuffer: 64 * 1024 * 1024, shell: process.platform === "win32" })

const require = (condition, complaint) => {
  if (!condition) throw new Error(complaint)
}

const check = async (title, action) => {
  try {
    await action()
    console.log(`ok ${title}`)
  } catch (error) {
    console.log(`failed ${title}`)
    console.error([error.message, error.stdout, error.stderr].filter(Boolean).join("\n"))
    throw error
  }
}

const project = async (folder, tarball, dependencies) => {
  await mkdir(folder)
  const versions = dependencies.map((name) => [name, manifest.devDependencies[name]])
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({
      name: "consumer",
      private: true,
      type: "module",
      dependencies: { ...Object.fromEntries(versions), [manifest.name]: `file:${tarball}` }
    })
  )
  await npm(folder, "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
}

const consumer = (imported) =>
  [
    "import { Effect, Layer } from \"effect\"",
    `import { NutritionAdvisor } from "${manifest.name}"`,
    `import { Simulator } from "${manifest.name}/testing"`,
    ...imported.map((entry, index) => `import * as entry${index} from "${specifier(entry)}"`),
    "",
    "const layer = NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(",
    "  Layer.provide(Simulator.layerHttpClient())",
    ")",
    "",
    "export const found: unknown = await Effect.runPromise(",
    "  NutritionAdvisor.search(\"greek yogurt\").pipe(Effect.provide(layer))",
    ")",
    "",
    `export const entries: ReadonlyArray<object> = [${imported.map((_, index) => `entry${index}`).join(", ")}]`,
    "",
    "console.log(JSON.stringify({ found, names: entries.map((entry) => Object.keys(entry).length) }))",
    ""
  ].join("\n")

const compilerOptions = {
  target: "ES2022",
  lib: ["ES2023", "DOM", "DOM.Iterable"],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  verbatimModuleSyntax: true,
  types: []
}

const typeCheck = async (folder, name, options) => {
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: ["consumer.ts"] }
  await writeFile(join(folder, `tsconfig.${name}.json`), JSON.stringify(config))
  await node(folder, "node_modules/typescript/bin/tsc", "-p", `tsconfig.${name}.json`)
}

const refusal = async (folder, name) => {
  const { stdout } = await node(
    folder,
    "--input-type=module",
    "--eval",
    `import(${JSON.stringify(name)}).then(() => console.log("imported"), (error) => console.log(error.code))`
  )
  return stdout.trim()
}

const targetsOf = (target) =>
  typeof target === "string" ? [target] : target === null ? [] : Object.values(target).flatMap(targetsOf)

const isTest = (path) => /(^|\/)(test|tests|__tests__|bench|examples|coverage)\/|\.(test|spec)\.[^/]+$/.test(path)

const isSecret = (path) => /(^|\/)(\.env[^/]*|[^/]*\.env|\.npmrc|[^/]*\.(pem|key|p12|pfx)|id_[a-z\d]+)$/i.test(path)

/** Types count too: an entry whose .d.ts names an optional peer cannot be type-checked without it. */
const importsAny = async (installed, target, packages) => {
  const texts = await Promise.all(targetsOf(target).map((path) => readFile(join(installed, path), "utf8")))
  return packages.some((name) => texts.some((text) => new RegExp(`["']${name}(/[^"']*)?["']`).test(text)))
}

const work = await mkdtemp(join(tmpdir(), "consume-"))
try {
  let tarball = ""
  let files = []
  const lean = join(work, "lean")
  const full = join(work, "full")
  const installed = join(lean, "node_modules", manifest.name)

  await check("builds", () => npm(repository, "run", "build"))

  await check("packs", async () => {
    const { stdout } = await npm(repository, "pack", "--json", "--ignore-scripts", "--pack-destination", work)
    const [packed] = JSON.parse(stdout)
    tarball = join(work, packed.filename)
    files = packed.files.map(({ path }) => path)
    require(existsSync(tarball), `no tarball ${packed.filename}`)
  })

  await check("holds every target of its exports", () => {
    const missing = targetsOf(manifest.exports).filter((path) => !files.includes(path.replace(/^\.\//, "")))
    require(missing.length === 0, `not in the tarball: ${missing.join(", ")}`)
  })

  await check("exports every module", async () => {
    const modules = (await readdir(join(repository, "src"))).filter((name) => name.endsWith(".ts"))
    const targets = targetsOf(manifest.exports)
    const missing = modules.filter((name) => !targets.includes(`./dist/${name.replace(/\.ts$/, ".js")}`))
    require(missing.length === 0, `no export for ${missing.join(", ")}`)
  })

  await check("holds a README and a license", () => {
    const missing = ["README.md", "LICENSE"].filter((name) => !files.includes(name))
    require(missing.length === 0, `not in the tarball: ${missing.join(", ")}`)
  })

  await check("holds no tests", () => {
    const tests = files.filter(isTest)
    require(tests.length === 0, `in the tarball: ${tests.join(", ")}`)
  })

  await check("holds no secrets", () => {
    const secrets = files.filter(isSecret)
    require(secrets.length === 0, `in the tarball: ${secrets.join(", ")}`)
  })

  await check("holds nothing that an earlier build left", () => {
    const stale = files.filter((path) => path.startsWith("dist/")).filter((path) =>
      !existsSync(join(repository, path.replace(/^dist\//, "src/").replace(/(\.d\.ts|\.js)(\.map)?$/, ".ts")))
    )
    require(stale.length === 0, `without a source: ${stale.join(", ")}`)
  })

  await check("installs with the required peers alone", () => project(lean, tarball, [...requiredPeers, "typescript"]))

  const leanEntries = []
  for (const entry of entries) {
    if (!await importsAny(installed, manifest.exports[entry], optionalPeers)) leanEntries.push(entry)
  }

  const consume = async (name, folder, imported) => {
    await writeFile(join(folder, "consumer.ts"), consumer(imported))

    await check(
      `type-checks ${name} under NodeNext`,
      () => typeCheck(folder, "nodenext", { module: "NodeNext", moduleResolution: "NodeNext", outDir: "out" })
    )

    await check(
      `type-checks ${name} under ESNext and Bundler`,
      () => typeCheck(folder, "bundler", { module: "ESNext", moduleResolution: "Bundler", noEmit: true })
    )

    await check(`runs ${name} and finds food on the simulator`, async () => {
      const { stderr, stdout } = await node(folder, "out/consumer.js")
      const { found, names } = JSON.parse(stdout)
      require(found.results.length > 0, `found nothing: ${stdout}`)
      require(names.every((count) => count > 0), `an entry exports nothing: ${stdout}`)
      require(stderr === "", `writes to stderr: ${stderr}`)
    })
  }

  await consume("the consumer", lean, leanEntries)

  await check("refuses the import of an internal module", async () => {
    const code = await refusal(lean, `${manifest.name}/internal/http`)
    require(code === "ERR_PACKAGE_PATH_NOT_EXPORTED", `answered ${code}`)
  })

  await check("answers the import of every entry with one sentence where the condition is browser", async () => {
    const load = `for (const entry of ${JSON.stringify(entries.map(specifier))}) {
      console.log(await import(entry).then(() => entry + " was imported", (error) => error.message))
    }`
    const { stdout } = await node(lean, "--conditions=browser", "--input-type=module", "--eval", load)
    const answers = stdout.trim().split("\n")
    const wrong = answers.filter((answer) => !answer.startsWith(`${manifest.name} runs on servers only: `))
    require(wrong.length === 0 && answers.length === entries.length, `answered ${stdout}`)
  })

  await check("refuses the import of a file by its path", async () => {
    const code = await refusal(lean, `${manifest.name}/dist/internal/http.js`)
    require(code === "ERR_PACKAGE_PATH_NOT_EXPORTED", `answered ${code}`)
  })

  if (leanEntries.length < entries.length) {
    await check(
      "installs with the optional peers",
      () => project(full, tarball, [...requiredPeers, ...optionalPeers, "typescript", "@types/node"])
    )
    await consume("the consumer of every entry", full, entries)
  }
} catch {
  process.exitCode = 1
} finally {
  await rm(work, { recursive: true, force: true })
}
