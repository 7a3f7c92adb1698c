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
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

const ratio = (values, references) => median(values.map((value, turn) => value / references[turn]))

/** Warms up the clients, and returns what each measured per turn. Another client goes first in each turn. */
const inTurns = async (clients, { concurrency, millis, turns, warmUp }) => {
  for (const { drive } of clients) await drive({ concurrency, millis: warmUp })
  const measured = new Map(clients.map(({ title }) => [title, []]))
  for (let turn = 0; turn < turns; turn++) {
    for (let index = 0; index < clients.length; index++) {
      const { drive, title } = clients[(index + turn) % clients.length]
      measured.get(title).push(await drive({ concurrency, millis }))
    }
  }
  return (title, figure) => measured.get(title).map((slice) => slice[figure])
}

/** The library and five peers beside hand-written code. */
export const throughput = async ({ libraries, log, millis, turns }) => {
  const tables = []
  const peers = ["azure", "google-auth", "axios-auth-refresh", "got", "ky"]
  const names = [base, "stock-undici", ...peers, "ours-fibers", "ours-runPromise"]
  for (const concurrency of [1, 64]) {
    log(`throughput at ${concurrency}`)
    const stage = await open(libraries)
    const clients = []
    for (const name of names) clients.push(await stage.startClient(name))
    const of = await inTurns(clients, { concurrency, millis, turns, warmUp: millis })
    await stage.end()
    tables.push({
      title: `Throughput at ${concurrency}`,
      columns: ["client", "CPU µs", `of ${base}`, "searches/s", "p50 ms", "p99 ms"],
      rows: names.map((name) => [
        name,
        median(of(name, "cpu")).toFixed(1),
        ratio(of(name, "cpu"), of(base, "cpu")).toFixed(2),
        median(of(name, "perSecond")).toFixed(0),
        median(of(name, "p50")).toFixed(2),
        median(of(name, "p99")).toFixed(2)
      ])
    })
  }
  return tables
}

/**
 * The library beside hand-written code, or beside itself at the commit that --base names. Each pair is two new processes, since one process of
 * a client can differ from the next. A turn is short, because the machine changes faster than the clients.
 */
export const pairs = async ({ libraries, log, millis, names, pairs, turns }) => {
  const rows = []
  const concurrency = 64
  for (const name of names) {
    const other = libraries.base === undefined ? base : `${name}@base`
    const each = []
    for (let pair = 1; pair <= pairs; pair++) {
      log(`pair ${pair} of ${pairs}: ${name} beside ${other}`)
      const stage = await open(libraries)
      const clients = [await stage.startClient(other), await stage.startClient(name)]
      const of = await inTurns(clients, { concurrency, millis: millis / 4, turns: turns * 4, warmUp: millis })
      await stage.end()
      const [own, others] = [of(name, "cpu"), of(other, "cpu")]
      each.push({ own: median(own), other: median(others), ratio: ratio(own, others) })
    }
    const ratios = each.map(({ ratio }) => ratio)
    rows.push([
      name,
      String(pairs),
      median(each.map(({ own }) => own)).toFixed(1),
      median(each.map(({ other }) => other)).toFixed(1),
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    ])
  }
  return [{
    title: `Pairs at ${concurrency} beside ${libraries.base === undefined ? "hand-written code" : "an older commit"}`,
    columns: ["client", "pairs", "CPU µs", "of the base", "ratio", "lowest to highest"],
    rows
  }]
}

/** Ten thousand searches at once, first without a token, then with one that was revoked. */
export const storms = async ({ libraries, log }) => {
  const rows = []
  const stage = await open(libraries)
  for (const name of [base, "azure", "google-auth", "axios-auth-refresh", "ours-fibers", "ours-createClient"]) {
    log(`storms: ${name}`)
    const client = await stage.startClient(name)
    await client.storm(1_000)
    await client.build()
    const cold = await client.storm(10_000)
    await stage.server.call("revoke")
    const revoked = await client.storm(10_000)
    for (const [token, { counts, failures, millis }] of [["none", cold], ["revoked", revoked]]) {
      rows.push([name, token, ...[counts.exchanges, failures, counts.connections].map(String), millis.toFixed(0)])
    }
    await client.end()
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
export const memory = async ({ libraries, log, searches }) => {
  const rows = []
  const stage = await open(libraries)
  for (const name of [base, "ours-fibers", "ours-runPromise"]) {
    log(`memory: ${name}`)
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
    await client.end()
  }
  return [{ title: "Memory", columns: ["client", "what", "heap"], rows }]
}

/** What one more client in a process costs: the heap that it keeps, and the CPU time to create it and to search once. */
export const clients = async ({ libraries, log }) => {
  const rows = []
  for (const kind of ["make", "createClient"]) {
    for (const [name, library] of Object.entries(libraries)) {
      log(`clients: ${kind}, ${name}`)
      const program = join(import.meta.dirname, "clientCost.mjs")
      const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, library, kind])
      const { bytes, opening, search } = JSON.parse(stdout)
      rows.push([kind, name, (bytes / 1024).toFixed(1), opening.toFixed(0), search.toFixed(0)])
    }
  }
  return [{
    title: "One more client, over a service in memory",
    columns: ["by", "library", "KB kept", "CPU µs to create it and search once", "of a warm search"],
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
    entryPoints: [join(root, "test/support/fleet/costs.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    alias: { "effect-nutrition-advisor": join(root, "src/index.ts") }
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
