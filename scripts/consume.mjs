/**
 * Packs the library and uses it as a stranger does: an empty project, the tarball, its peers. Prints one line a check, and one
 * a figure. Each `--runtime "Bun 1.4.5=/path/to/bun"` is a further runtime that the packed library has to run on.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { build } from "esbuild"

const { values: { runtime: runtimes } } = parseArgs({
  options: { runtime: { type: "string", multiple: true, default: [] } }
})

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

/** Neither settings of the service nor of npm's run of the suite, and caches of its own. */
const runtimeEnvironment = (cwd) => ({
  PATH: process.env.PATH,
  HOME: cwd,
  DENO_DIR: join(cwd, ".deno"),
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1"
})

const npm = (cwd, ...args) =>
  run("npm", args, { cwd, maxBuffer: 64 * 1024 * 1024, shell: process.platform === "win32" })

const require = (condition, complaint) => {
  if (!condition) throw new Error(complaint)
}

const figure = (name, value) => console.log(`figure ${name} ${value}`)

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

const versionsOf = (names) => Object.fromEntries(names.map((name) => [name, manifest.devDependencies[name]]))

const project = async (folder, tarball, dependencies, tools) => {
  await mkdir(folder)
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({
      name: "consumer",
      private: true,
      type: "module",
      dependencies: { ...versionsOf(dependencies), [manifest.name]: `file:${tarball}` },
      devDependencies: versionsOf(tools)
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

/** What a backend would bundle: nobody answers at the port, so that the bundle also runs without a network. */
const client = (imports) =>
  [
    requiredPeers.includes("@effect/platform")
      ? "import { FetchHttpClient } from \"@effect/platform\""
      : "import * as FetchHttpClient from \"effect/http/FetchHttpClient\"",
    "import { Effect, Layer, Redacted } from \"effect\"",
    imports,
    "",
    "const Advisor = NutritionAdvisor.layer({",
    "  baseUrl: \"http://127.0.0.1:1\",",
    "  licenseKey: Redacted.make(\"key-of-the-bundle\")",
    "}).pipe(Layer.provide(FetchHttpClient.layer))",
    "",
    "const search = NutritionAdvisor.search(\"greek yogurt\").pipe(Effect.provide(Advisor), Effect.flip)",
    "",
    "console.log((await Effect.runPromise(search))._tag)",
    ""
  ].join("\n")

const minified = async (folder, contents) => {
  const { outputFiles: [{ text }] } = await build({
    absWorkingDir: folder,
    bundle: true,
    external: Object.keys(manifest.peerDependencies),
    format: "esm",
    logLevel: "silent",
    minify: true,
    platform: "node",
    stdin: { contents, resolveDir: folder },
    write: false
  })
  return text
}

const bundle = async (folder, imports) => {
  const text = await minified(folder, client(imports))
  await writeFile(join(folder, "bundle.mjs"), text)
  const { stdout } = await node(folder, "bundle.mjs")
  require(stdout.trim().split("\n").at(-1) === "TransportError", `the bundle ended in ${stdout}`)
  return Buffer.byteLength(text)
}

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

const isTest = (path) =>
  /(^|\/)(test|tests|__tests__|coverage)\/|^bench\/.*(?<!\.svg)$|\.(test|spec)\.[^/]+$/.test(path)

const isSecret = (path) => /(^|\/)(\.env[^/]*|[^/]*\.env|\.npmrc|[^/]*\.(pem|key|p12|pfx)|id_[a-z\d]+)$/i.test(path)

const importedBy = (text) => [...text.matchAll(/(?:from|import) ?\(?["']([^"']+)["']/g)].map(([, name]) => name)

/** Types count too: an entry whose .d.ts names an optional peer, at whatever remove, cannot be type-checked without it. */
const importsAny = async (file, packages) => {
  const names = importedBy(await readFile(file, "utf8"))
  if (names.some((name) => packages.some((peer) => name === peer || name.startsWith(`${peer}/`)))) return true
  const types = file.endsWith(".d.ts")
  const own = names.filter((name) => name.startsWith("."))
    .map((name) => join(dirname(file), types ? name.replace(/\.js$/, ".d.ts") : name))
  for (const path of own) if (await importsAny(path, packages)) return true
  return false
}

const binOf = (packed) => Object.entries(packed.bin ?? {})

/** What is installed: npm also lists an optional peer that is not there, without a version. */
const namesBelow = ({ dependencies = {} }) =>
  Object.entries(dependencies)
    .filter(([, { version }]) => version !== undefined)
    .flatMap(([name, tree]) => [name, ...namesBelow(tree)])

const same = (names, others) => JSON.stringify([...names].sort()) === JSON.stringify([...others].sort())

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
    figure("tarball", packed.size)
    figure("unpacked", packed.unpackedSize)
  })

  await check("holds every target of its exports", () => {
    const missing = targetsOf(manifest.exports).filter((path) => !files.includes(path.replace(/^\.\//, "")))
    require(missing.length === 0, `not in the tarball: ${missing.join(", ")}`)
  })

  await check("holds every target of its bin, each a script for Node", async () => {
    for (const [name, path] of binOf(manifest)) {
      require(files.includes(path.replace(/^\.\//, "")), `not in the tarball: ${name}`)
      const text = await readFile(join(repository, path), "utf8")
      require(text.startsWith("#!/usr/bin/env node\n"), `no script for Node: ${name}`)
    }
  })

  await check("is clean for publint", async () => {
    const { stdout } = await npm(repository, "exec", "--no", "--", "publint", "run", tarball, "--strict")
    require(stdout.includes("All good!"), stdout)
  })

  await check(
    "has types that resolve at every entry",
    () => npm(repository, "exec", "--no", "--", "attw", tarball, "--profile", "esm-only")
  )

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

  await check("holds nothing that an earlier build left", async () => {
    const built = files.filter((path) => path.startsWith("dist/"))
    const modules = built.filter((path) => path.endsWith(".js"))
    const texts = await Promise.all(modules.map((path) => readFile(join(repository, path), "utf8")))
    const isImported = (path) => texts.some((text) => text.includes(`/${path.split("/").at(-1)}'`))
    const stale = built.filter((path) =>
      path.startsWith("dist/chunks/")
        ? !isImported(path.replace(/\.map$/, ""))
        : !existsSync(join(repository, path.replace(/^dist\//, "src/").replace(/(\.d\.ts|\.js)(\.map)?$/, ".ts")))
    )
    require(stale.length === 0, `without a source: ${stale.join(", ")}`)
  })

  await check("installs with the required peers alone", () => project(lean, tarball, requiredPeers, ["typescript"]))

  await check("brings nothing but its peers and minisearch", async () => {
    const packed = JSON.parse(await readFile(join(installed, "package.json"), "utf8"))
    const named = Object.keys(packed.dependencies)
    require(same(named, ["@standard-schema/spec", "minisearch"]), `depends on ${named}`)
    const { stdout } = await npm(lean, "ls", "--all", "--omit=dev", "--json")
    const { dependencies: { [manifest.name]: own, ...peers }, problems = [] } = JSON.parse(stdout)
    require(problems.length === 0, problems.join("\n"))
    require(same(Object.keys(peers), requiredPeers), `beside it: ${Object.keys(peers)}`)
    // Types alone; Effect 3 has them as well.
    const expected = ["@standard-schema/spec", ...requiredPeers, ...namesBelow({ dependencies: peers })]
    const brought = namesBelow(own).filter((name) => !expected.includes(name))
    require(same(brought, ["minisearch"]), `brings ${brought}`)
  })

  await check("bundles into a client that runs", async () => {
    figure("bundle", await bundle(lean, `import { NutritionAdvisor } from "${manifest.name}"`))
    const ofModule = await bundle(lean, `import * as NutritionAdvisor from "${manifest.name}/NutritionAdvisor"`)
    figure("bundle-of-module", ofModule)
    figure(
      "bundle-of-leaf",
      Buffer.byteLength(await minified(lean, `export { make } from "${manifest.name}/AccessToken"`))
    )
  })

  const leanEntries = []
  for (const entry of entries) {
    const targets = targetsOf(manifest.exports[entry]).map((target) => join(installed, target))
    const needsMore = await Promise.all(targets.map((target) => importsAny(target, optionalPeers)))
    if (!needsMore.includes(true)) leanEntries.push(entry)
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

  await check("needs the page of the simulator for nothing else", async () => {
    const page = join(installed, "dist/testing/simulatorPage.js")
    await rename(page, `${page}.away`)
    try {
      const { stdout } = await node(lean, "out/consumer.js")
      require(JSON.parse(stdout).found.results.length > 0, `found nothing: ${stdout}`)
    } finally {
      await rename(`${page}.away`, page)
    }
  })

  const programs = [...(await readFile(join(installed, "README.md"), "utf8")).matchAll(/```ts\n([^]*?)```/g)]
    .map(([, program]) => program)

  await check("runs the first programs of README as printed", async () => {
    for (const program of programs.slice(0, 2)) {
      await writeFile(join(lean, "search.mjs"), program)
      const { stderr, stdout } = await node(lean, "search.mjs")
      require(stdout.includes("name: 'Oats, rolled'") && stderr === "", `printed ${stdout} ${stderr}`)
    }
  })

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
      () => project(full, tarball, [...requiredPeers, ...optionalPeers], ["typescript", "@types/node"])
    )
    await consume("the consumer of every entry", full, entries)
  }

  for (const [name] of binOf(manifest)) {
    await check(`tells how to use ${name} where it is asked for help`, async () => {
      const { stdout } = await npm(full, "exec", "--no", "--", name, "--help")
      require(stdout.includes(name) && stdout.includes("--port"), stdout)
    })
  }

  const serving = join(work, "serving")

  await check(
    "installs with the peer of its simulator alone",
    () => project(serving, tarball, [...requiredPeers, "@effect/platform-node"], [])
  )

  const binIn = (folder, name) => join(folder, "node_modules", manifest.name, manifest.bin[name])

  const simulator = "effect-nutrition-advisor-simulator"

  await check(`serves by ${simulator} with nothing else`, async () => {
    const child = spawn(process.execPath, [binIn(serving, simulator), "--port", "0"])
    try {
      const [line] = await once(child.stdout, "data", { signal: AbortSignal.timeout(20_000) })
      const [url] = /^\S+/.exec(String(line)) ?? []
      const { openapi } = await (await fetch(`${url}/openapi.json`)).json()
      require(openapi === "3.1.0", `answered ${openapi}`)
      const page = await fetch(`${url}/simulator/`)
      const text = await page.text()
      require(page.status === 200 && /<script type="module">\n\/\*\*/.test(text), `the page is ${page.status} ${text}`)
      require(/^[^<]*<!doctype html>/i.test(text) && !/ src=/.test(text), "the page is not one document")
    } finally {
      child.kill()
    }
  })

  const mcp = "effect-nutrition-advisor-mcp"

  const checkMcp = async (title, action) => {
    if (mcp in manifest.bin) await check(title, action)
  }

  /** What a client over stdio gets that asks once and leaves. */
  const ask = async (folder) => {
    const child = spawn(process.execPath, [binIn(folder, mcp), "--simulator"])
    const output = { stdout: "", stderr: "" }
    child.stdout.on("data", (text) => output.stdout += text)
    child.stderr.on("data", (text) => output.stderr += text)
    const params = { name: "search_foods", arguments: { term: "oats" } }
    child.stdin.on("error", () => {})
    child.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`)
    const [code] = await once(child, "close", { signal: AbortSignal.timeout(20_000) })
    return { code, ...output }
  }

  await checkMcp(`serves by ${mcp} with its peers`, async () => {
    const { code, stderr, stdout } = await ask(full)
    require(code === 0 && JSON.parse(stdout).result.structuredContent.results.length > 0, `${code} ${stdout} ${stderr}`)
  })

  await checkMcp(`says by ${mcp} what to install where @effect/ai is missing`, async () => {
    const { code, stderr, stdout } = await ask(serving)
    require(
      code === 1 && stdout === "" &&
        /^[^\n]+ npm install effect-nutrition-advisor [^\n]+ @effect\/ai@[^\n]+\n$/.test(stderr),
      `${code} ${stderr}`
    )
  })

  await cp(join(repository, "examples"), join(full, "examples"), { recursive: true })

  for (const runtime of runtimes) {
    const [, name, executable] = /^(.*?)=(.*)$/.exec(runtime) ?? []
    const start = async (cwd, ...args) => {
      const started = Date.now()
      const { stdout } = await run(executable, args, { cwd, env: runtimeEnvironment(cwd) })
      figure(name.replaceAll(" ", "-"), `${Date.now() - started} ms`)
      return stdout
    }

    if (name.startsWith("Node")) {
      await check(`runs the consumer of every entry on ${name}`, async () => {
        const { found, names } = JSON.parse(await start(full, "out/consumer.js"))
        require(found.results.length > 0 && names.every((count) => count > 0), `found ${JSON.stringify(found)}`)
      })
      await check(`runs the first program of README on ${name}`, async () => {
        await writeFile(join(lean, "search.mjs"), programs[0])
        const stdout = await start(lean, "search.mjs")
        require(stdout.includes("name: 'Oats, rolled'"), `printed ${stdout}`)
      })
    } else {
      await check(`runs the main example on ${name}`, async () => {
        const flags = name.startsWith("Deno") ? ["run", "-A", "--cached-only", "--unstable-sloppy-imports"] : []
        const stdout = await start(full, ...flags, "examples/search.ts", "oats")
        require(/^Food, per 100 g +kcal[^]*\nOats, rolled +379 /.test(stdout), `printed ${stdout}`)
      })
    }
  }
} catch {
  process.exitCode = 1
} finally {
  await rm(work, { recursive: true, force: true })
}
