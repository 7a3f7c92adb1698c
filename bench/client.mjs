/** A client as a process of its own: `node client.mjs <name>`. */
import { performance } from "node:perf_hooks"
import { load } from "./clients.mjs"
import { isPayload, term } from "./payload.mjs"
import { obey } from "./processes.mjs"

const make = await load(process.argv[2])

let client
let flooded

const checked = (answer) => {
  if (!isPayload(answer)) throw new Error(`not the answer to a search: ${JSON.stringify(answer)}`)
}

/** Keeps so many searches going until the time is over or so many have begun. */
const drive = async ({ concurrency, millis = Infinity, searches = Infinity }) => {
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const latencies = []
  let started = 0
  const next = () => {
    if (started >= searches || performance.now() - began >= millis) return undefined
    return term(started++)
  }
  await client.drive({
    concurrency,
    next,
    note: (begun, answer) => {
      checked(answer)
      if (latencies.length < 1_000_000) latencies.push(performance.now() - begun)
    }
  })
  const took = performance.now() - began
  const { system, user } = process.cpuUsage(cpuBefore)
  latencies.sort((a, b) => a - b)
  const quantile = (part) => latencies[Math.floor(latencies.length * part)] ?? 0
  return { searches: started, millis: took, cpu: (system + user) / started, p50: quantile(0.5), p99: quantile(0.99) }
}

/** So many searches at once. */
const storm = async (searches) => {
  const began = performance.now()
  const all = await Promise.allSettled(
    Array.from({ length: searches }, (_, index) => client.search(term(index)).then(checked))
  )
  const failed = all.filter(({ status }) => status === "rejected")
  return { failures: failed.length, firstFailure: String(failed[0]?.reason), millis: performance.now() - began }
}

obey({
  build: async (setting) => {
    await client?.close()
    client = await make(setting)
  },
  drive,
  storm,
  flood: (searches) => {
    flooded = storm(searches)
  },
  landed: () => flooded,
  heap: async () => {
    for (let turn = 0; turn < 4; turn++) {
      globalThis.gc()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return process.memoryUsage().heapUsed
  }
})
