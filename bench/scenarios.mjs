/** What is measured. Each scenario gives tables; clients take turns, and ratios are formed within a round. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { open } from "./stage.mjs"

const peers = ["azure", "google-auth", "axios-auth-refresh", "got", "ky"]

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

const ratio = (values, references) => median(values.map((value, round) => value / references[round]))

/** What each performer gave in each round; they take turns at going first. */
const interleaved = async (performers, rounds, measure) => {
  const measured = new Map(performers.map(({ title }) => [title, []]))
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < performers.length; index++) {
      const performer = performers[(index + round) % performers.length]
      measured.get(performer.title).push(await measure(performer))
    }
  }
  return measured
}

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

/** The library beside five peers, and beside undici with a token that is hard-coded. */
export const throughput = async ({ libraries, millis, rounds, say }) => {
  const tables = []
  const names = ["undici.request", "hand-written", "stock-undici", ...peers, "ours-fibers", "ours-runPromise"]
  for (const concurrency of [1, 64]) {
    say(`throughput at ${concurrency}`)
    const stage = await open(libraries)
    const performers = []
    for (const name of names) performers.push(await stage.perform(name))
    for (const { slice } of performers) await slice({ concurrency, millis })
    const measured = await interleaved(performers, rounds, ({ slice }) => slice({ concurrency, millis }))
    await stage.end()
    const of = (name, figure) => measured.get(name).map((slice) => slice[figure])
    tables.push({
      title: `Throughput, ${concurrency} at once`,
      columns: ["client", "CPU µs", "of undici.request", "searches/s", "p50 ms", "p99 ms"],
      rows: names.map((name) => [
        name,
        median(of(name, "cpu")).toFixed(1),
        ratio(of(name, "cpu"), of("undici.request", "cpu")).toFixed(2),
        median(of(name, "perSecond")).toFixed(0),
        median(of(name, "p50")).toFixed(2),
        median(of(name, "p99")).toFixed(2)
      ])
    })
  }
  return tables
}

/** Two clients in turn, a short slice each, in six pairs of processes: one process differs from the next by as much as a tenth. */
const pairsOf = (libraries) => [
  ["ours-over-undici", "stock-undici", [64]],
  ["ours-over-fetch", "stock-fetch", [64]],
  ["ours-over-node:http", "stock-node:http", [64]],
  ["ours-promises", "ours-runPromise", [1, 64]],
  ...(libraries.base === undefined ?
    [] :
    ["ours-fibers", "ours-runPromise", "ours-over-undici", "ours-over-fetch"].map((name) => [
      name,
      `${name}@base`,
      [64]
    ]))
]

export const pairs = async ({ libraries, millis, only, processes, rounds, say }) => {
  const rows = []
  for (const [own, other, levels] of pairsOf(libraries)) {
    if (only !== undefined && !only.includes(own) && !only.includes(other)) continue
    say(`pairs: ${own} beside ${other}`)
    const ratios = new Map(levels.map((level) => [level, []]))
    const costs = new Map(levels.map((level) => [level, { own: [], other: [] }]))
    for (let process = 0; process < processes; process++) {
      const stage = await open(libraries)
      const performers = [await stage.perform(other), await stage.perform(own)]
      for (const concurrency of levels) {
        for (const { slice } of performers) await slice({ concurrency, millis })
        const load = { concurrency, millis: millis / 4 }
        const measured = await interleaved(performers, rounds * 4, ({ slice }) => slice(load))
        const of = (name) => measured.get(name).map(({ cpu }) => cpu)
        ratios.get(concurrency).push(ratio(of(own), of(other)))
        costs.get(concurrency).own.push(median(of(own)))
        costs.get(concurrency).other.push(median(of(other)))
      }
      await stage.end()
    }
    for (const level of levels) {
      const all = ratios.get(level)
      const { other: others, own: owns } = costs.get(level)
      rows.push([
        `${own} beside ${other}`,
        String(level),
        median(owns).toFixed(1),
        median(others).toFixed(1),
        median(all).toFixed(2),
        `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)}`
      ])
    }
  }
  return [{
    title: `Pairs, ${processes} pairs of processes each`,
    columns: ["what", "at once", "CPU µs", "of the other", "ratio", "by process"],
    rows
  }]
}

/** Ten thousand searches at once that all lack a token, or all carry one that was revoked. */
export const storms = async ({ libraries, say }) => {
  const rows = []
  const stage = await open(libraries)
  for (const name of ["hand-written", "azure", "google-auth", "axios-auth-refresh", "ours-fibers", "ours-promises"]) {
    say(`storms: ${name}`)
    const performer = await stage.perform(name)
    await performer.storm(1_000)
    await performer.build()
    const cold = await performer.storm(10_000)
    await stage.server.tell("revoke")
    const revoked = await performer.storm(10_000)
    for (const [when, { failures, millis, seen }] of [["cold", cold], ["revoked", revoked]]) {
      rows.push([name, when, ...[seen.exchanges, failures, seen.connections].map(String), millis.toFixed(0)])
    }
    await performer.end()
  }
  return [{
    title: "Storms: 10,000 searches at once",
    columns: ["client", "token", "exchanges", "failures", "connections opened", "ms"],
    rows
  }]
}

/** What a search holds while it waits for its answer, and what a million of them leave behind. */
export const memory = async ({ libraries, say, searches }) => {
  const rows = []
  const stage = await open(libraries)
  for (const name of ["undici.request", "hand-written", "ours-fibers", "ours-runPromise"]) {
    say(`memory: ${name}`)
    const performer = await stage.perform(name)
    await performer.storm(1_000)
    const before = await performer.tell("heap")
    await stage.server.tell("hold")
    await performer.tell("flood", 10_000)
    for (let held = -1, seen = 0; seen === 0 || seen !== held; ({ held: seen } = await stage.server.tell("look"))) {
      held = seen
      await sleep(500)
    }
    const during = await performer.tell("heap")
    await stage.server.tell("release")
    await performer.tell("landed")
    rows.push([name, "in flight, KB each", ((during - before) / 10_000 / 1024).toFixed(2)])
    if (name === "ours-fibers") {
      const early = await performer.tell("heap")
      await performer.slice({ concurrency: 64, searches })
      const growth = (await performer.tell("heap") - early) / 1024 / 1024
      rows.push([name, `left behind by ${searches} searches, MB`, growth.toFixed(2)])
    }
    await performer.end()
  }
  return [{ title: "Memory", columns: ["client", "what", "heap"], rows }]
}

/** What one more client of a process keeps alive, and what it costs to build it and to search with it once. */
export const clients = async ({ libraries, say }) => {
  const rows = []
  for (const kind of ["make", "createClient"]) {
    for (const [name, library] of Object.entries(libraries)) {
      say(`clients: ${kind}, ${name}`)
      const program = join(import.meta.dirname, "clientCost.mjs")
      const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, library, kind])
      const { bytes, opening, search } = JSON.parse(stdout)
      rows.push([kind, name, (bytes / 1024).toFixed(1), opening.toFixed(0), search.toFixed(0)])
    }
  }
  return [{
    title: "One more client, over a service in memory",
    columns: ["by", "library", "KB kept", "CPU µs of building and the first search", "of a warm search"],
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
export const fleet = async ({ out, root, rounds, say }) => {
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
  for (const size of rounds > 2 ? [10, 100, 1_000, 10_000] : [10, 100]) {
    say(`fleet of ${size}`)
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
