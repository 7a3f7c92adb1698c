/** The scenarios. Each returns tables. Clients take turns, and a ratio is formed within a turn, so that a change of the machine hits both. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { open } from "./stage.mjs"

const base = "hand-written"

const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Warms up the clients, and returns what each measured in each turn, by title. Another client goes first in each turn. */
const inTurns = async (clients, { concurrency, count, millis, warmUp }) => {
  for (const { drive } of clients) await drive({ concurrency, millis: warmUp })
  const turns = []
  for (let turn = 0; turn < count; turn++) {
    const measured = {}
    for (let index = 0; index < clients.length; index++) {
      const { drive, title } = clients[(index + turn) % clients.length]
      measured[title] = await drive({ concurrency, millis })
    }
    turns.push(measured)
  }
  return turns
}

const medianOf = (turns, title, figure) => median(turns.map((measured) => measured[title][figure]))

const ratioOf = (turns, title, other) => median(turns.map((measured) => measured[title].cpu / measured[other].cpu))

/** The library and five peers beside hand-written code. */
export const throughput = async ({ isQuick, libraries, log }) => {
  const tables = []
  const peers = ["azure", "google-auth", "axios-auth-refresh", "got", "ky"]
  const names = [base, "stock-undici", ...peers, "ours-fibers", "ours-runPromise"]
  const [count, millis] = isQuick ? [2, 400] : [5, 1_000]
  for (const concurrency of [1, 64]) {
    log(`throughput at ${concurrency}`)
    const stage = await open(libraries)
    const clients = []
    for (const name of names) clients.push(await stage.startClient(name))
    const turns = await inTurns(clients, { concurrency, count, millis, warmUp: millis })
    await stage.end()
    tables.push({
      title: `Throughput at ${concurrency}`,
      columns: ["client", "CPU µs", `ratio to ${base}`, "searches/s", "p50 ms", "p99 ms"],
      rows: names.map((name) => [
        name,
        medianOf(turns, name, "cpu").toFixed(1),
        ratioOf(turns, name, base).toFixed(2),
        medianOf(turns, name, "perSecond").toFixed(0),
        medianOf(turns, name, "p50").toFixed(2),
        medianOf(turns, name, "p99").toFixed(2)
      ])
    })
  }
  return tables
}

/** The highest ratios to hand-written code that this repository accepts, measured on an idle machine. */
const limits = { "ours-fibers": "1.25", "ours-runPromise": "1.46" }

const lowestShare = (measured) => Math.min(...Object.values(measured).map(({ share }) => share))

/** The half of the turns in which other processes took the least of the core. */
const quieterHalf = (turns) =>
  turns.toSorted((a, b) => lowestShare(b) - lowestShare(a)).slice(0, Math.ceil(turns.length / 2))

/**
 * The library beside hand-written code, or beside itself at the commit that `--base` names. Each pair is two new processes, because two
 * processes of the same client differ. Turns are short, because the load of the machine changes.
 */
export const pairs = async ({ isQuick, libraries, log, names }) => {
  const rows = []
  const concurrency = 64
  const hasCommit = libraries.base !== undefined
  const [pairs, count] = isQuick ? [1, 10] : [6, 40]
  for (const name of names) {
    const other = hasCommit ? `${name}@base` : base
    const measured = []
    for (let pair = 1; pair <= pairs; pair++) {
      log(`pair ${pair} of ${pairs}: ${name} beside ${other}`)
      const stage = await open(libraries)
      const clients = [await stage.startClient(other), await stage.startClient(name)]
      const turns = quieterHalf(await inTurns(clients, { concurrency, count, millis: 100, warmUp: 1_500 }))
      await stage.end()
      measured.push({
        own: medianOf(turns, name, "cpu"),
        other: medianOf(turns, other, "cpu"),
        ratio: ratioOf(turns, name, other),
        share: median(turns.map(lowestShare))
      })
    }
    const of = (figure) => measured.map((pair) => pair[figure])
    rows.push([
      name,
      String(pairs),
      median(of("own")).toFixed(1),
      median(of("other")).toFixed(1),
      median(of("ratio")).toFixed(2),
      `${Math.min(...of("ratio")).toFixed(2)} to ${Math.max(...of("ratio")).toFixed(2)}`,
      hasCommit ? "" : limits[name] ?? "",
      median(of("share")).toFixed(2)
    ])
  }
  return [{
    title: `Pairs at ${concurrency}, compared with ${hasCommit ? "an older commit" : "hand-written code"}`,
    columns: [
      "client",
      "pairs",
      "CPU µs",
      "CPU µs of the base",
      "ratio",
      "lowest to highest ratio",
      "limit",
      "share of the core"
    ],
    rows
  }]
}

/** Ten thousand searches at once, first without a token, then with one that was revoked. */
export const storms = async ({ libraries, log }) => {
  const rows = []
  for (const name of [base, "azure", "google-auth", "axios-auth-refresh", "ours-fibers", "ours-createClient"]) {
    log(`storms: ${name}`)
    const stage = await open(libraries)
    const client = await stage.startClient(name)
    await client.storm(1_000)
    await client.build()
    const cold = await client.storm(10_000)
    await stage.server.call("revoke")
    const revoked = await client.storm(10_000)
    for (const [token, { counts, failures, millis }] of [["none", cold], ["revoked", revoked]]) {
      rows.push([name, token, ...[counts.exchanges, failures, counts.connections].map(String), millis.toFixed(0)])
    }
    await stage.end()
  }
  return [{
    title: "Storms of 10,000 searches",
    columns: ["client", "token", "exchanges", "failures", "connections opened", "ms"],
    rows
  }]
}

/** The number of responses that the server holds back, once it no longer grows. */
const allHeld = async (server, before = 0) => {
  await sleep(500)
  const { held } = await server.call("counts")
  return held > 0 && held === before ? held : allHeld(server, held)
}

/** The heap that a pending search uses, and what a million searches leave behind. */
export const memory = async ({ isQuick, libraries, log }) => {
  const rows = []
  const searches = isQuick ? 50_000 : 1_000_000
  for (const name of [base, "ours-fibers", "ours-runPromise"]) {
    log(`memory: ${name}`)
    const stage = await open(libraries)
    const client = await stage.startClient(name)
    await client.storm(1_000)
    const before = await client.call("heap")
    await stage.server.call("hold")
    await client.call("startStorm", 10_000)
    await allHeld(stage.server)
    const during = await client.call("heap")
    await stage.server.call("release")
    await client.call("awaitStorm")
    rows.push([name, "pending search, KB", ((during - before) / 10_000 / 1024).toFixed(2)])
    if (name === "ours-fibers") {
      const early = await client.call("heap")
      await client.drive({ concurrency: 64, searches })
      const growth = (await client.call("heap") - early) / 1024 / 1024
      rows.push([name, `left behind by ${searches} searches, MB`, growth.toFixed(2)])
    }
    await stage.end()
  }
  return [{ title: "Memory", columns: ["client", "what", "heap"], rows }]
}

/**
 * What one more client in a process costs: the heap that it keeps, and the CPU time to create it, to search once, and to be idle. An idle
 * client is compared with a fiber that only sleeps, and with a process that has no clients.
 */
export const clients = async ({ isQuick, libraries, log }) => {
  const rows = []
  const idleMillis = isQuick ? 0 : 60_000
  for (const kind of ["make", "createClient", "fiber", "none"]) {
    const isClient = kind === "make" || kind === "createClient"
    for (const [name, library] of Object.entries(isClient ? libraries : { own: libraries.own })) {
      log(`clients: ${kind}, ${name}`)
      const stage = await open(libraries)
      const program = join(import.meta.dirname, "clientCost.mjs")
      const args = ["--expose-gc", program, library, kind, stage.baseUrl, String(idleMillis)]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      await stage.end()
      const { bytes, idleShare, opening, search } = JSON.parse(stdout)
      rows.push([
        kind,
        name,
        (bytes / 1024).toFixed(1),
        opening.toFixed(0),
        isClient ? search.toFixed(0) : "",
        isClient ? (opening / search).toFixed(1) : "",
        isQuick ? "" : (100 * idleShare).toFixed(2)
      ])
    }
  }
  return [{
    title: "Cost of one more client, over fetch",
    columns: [
      "constructor",
      "library",
      "KB kept",
      "CPU µs to create it and search once",
      "CPU µs of a warm search",
      "in warm searches",
      "% of a core for 2,000 idle clients"
    ],
    rows
  }]
}

const bundled = async (path, external) => {
  const { outputFiles: [{ contents }] } = await build({
    entryPoints: [path],
    bundle: true,
    external,
    format: "esm",
    logLevel: "silent",
    minify: true,
    platform: "node",
    write: false
  })
  return [contents.length, gzipSync(contents).length].map((bytes) => (bytes / 1024).toFixed(1))
}

/** How large a bundled client is. */
export const bundle = async ({ libraries: { own } }) => {
  const peers = ["effect", "effect/*", "@effect/*"]
  const rows = [
    ["NutritionAdvisor", ...await bundled(`${own}/NutritionAdvisor.js`, peers)],
    ["NutritionAdvisor with effect and platform", ...await bundled(`${own}/NutritionAdvisor.js`, [])],
    ["promise", ...await bundled(`${own}/promise/index.js`, peers)]
  ]
  return [{ title: "A bundled client", columns: ["what", "KB minified", "KB gzipped"], rows }]
}

/** What replicas that share a token cost the token route and the cache, in virtual time. */
export const fleet = async ({ isQuick, log, out, root }) => {
  const outfile = join(out, "fleet.mjs")
  await build({
    entryPoints: [join(root, "bench/fleetCosts.mjs")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    alias: {
      "effect-nutrition-advisor": join(root, "src/index.ts"),
      "effect-nutrition-advisor/testing": join(root, "src/testing/index.ts")
    }
  })
  const { costsOf } = await import(pathToFileURL(outfile).href)
  const rows = []
  for (const size of isQuick ? [10, 100] : [10, 100, 1_000, 10_000]) {
    log(`fleet of ${size}`)
    rows.push(...await costsOf(size))
  }
  const order = ["cold start", "revocation", "refresh", "quiet hour"]
  const number = (value) => value.toLocaleString("en-US")
  return [{
    title: "A fleet that shares one token (an exchange takes one second)",
    columns: ["situation", "replicas", "exchanges", "cache calls", "per replica", "busiest second", "last token after"],
    rows: rows.sort((a, b) => order.indexOf(a.situation) - order.indexOf(b.situation)).map((cost) => [
      cost.situation,
      number(cost.replicas),
      number(cost.exchanges),
      number(cost.cacheCalls),
      (cost.cacheCalls / cost.replicas).toFixed(1),
      number(cost.busiestSecond),
      cost.lastAfter === undefined ? "" : `${cost.lastAfter} ms`
    ])
  }]
}
