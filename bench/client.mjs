/** A client in a process of its own: `node --expose-gc client.mjs <name>`. */
import { performance } from "node:perf_hooks"
import { clients } from "./clients.mjs"
import { isPayload, term } from "./payload.mjs"
import { serve } from "./processes.mjs"
import { cpuTime, usedHeap } from "./usage.mjs"

const make = clients[process.argv[2]]

let client
let runningStorm

const check = (value) => {
  if (!isPayload(value)) throw new Error(`not the response to a search: ${JSON.stringify(value)}`)
}

/** Keeps `concurrency` searches running for that many milliseconds, or until that many searches have started. */
const drive = async ({ concurrency, millis = Infinity, searches = Infinity }) => {
  const cpuBefore = cpuTime()
  const startedAt = performance.now()
  const latencies = []
  let started = 0
  const isOver = () => started > 0 && performance.now() - startedAt >= millis
  const nextTerm = () => started >= searches || isOver() ? undefined : term(started++)
  await client.drive({
    concurrency,
    nextTerm,
    onResult: (searchedAt, value) => {
      check(value)
      if (latencies.length < 1_000_000) latencies.push(performance.now() - searchedAt)
    }
  })
  const took = performance.now() - startedAt
  const cpu = (cpuTime() - cpuBefore) / started
  latencies.sort((a, b) => a - b)
  const quantile = (part) => latencies[Math.floor(latencies.length * part)] ?? 0
  return { searches: started, millis: took, cpu, p50: quantile(0.5), p99: quantile(0.99) }
}

/** Starts that many searches at once. */
const storm = async (searches) => {
  const startedAt = performance.now()
  const results = await Promise.allSettled(
    Array.from({ length: searches }, (_, index) => client.search(term(index)).then(check))
  )
  const failures = results.filter(({ status }) => status === "rejected").length
  return { failures, millis: performance.now() - startedAt }
}

serve({
  build: async (baseUrl) => {
    await client?.close()
    client = await make(baseUrl)
  },
  drive,
  storm,
  startStorm: (searches) => {
    runningStorm = storm(searches)
  },
  awaitStorm: () => runningStorm,
  heap: usedHeap
})
