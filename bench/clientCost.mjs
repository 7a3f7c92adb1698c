/**
 * What one more client costs, over fetch: `node --expose-gc clientCost.mjs <library> <kind> <base URL> <idle milliseconds>`. The kind is
 * `make`, `createClient`, `fiber` (a fiber that only sleeps, at the times at which a client checks its token), or `none`. The test
 * `system/memory` reads the `bytes` of its output.
 * The last argument is how long the idle process is measured with 2,000 clients. Before that, it stays idle for 90 seconds: a minute after
 * the last search, V8 collects what the searches left behind, which takes as much CPU time as several idle minutes.
 */
import { setTimeout as sleep } from "node:timers/promises"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { cpuTime, usedHeap } from "./usage.mjs"

const [library, kind, baseUrl, idleMillis] = process.argv.slice(2)

const { make } = await import(`${library}/NutritionAdvisor.js`)

const { createClient } = await import(`${library}/promise/index.js`)

const scope = Effect.runSync(Scope.make())

/** All clients that `make` creates share one HttpClient. */
const fetchClient = await Effect.runPromise(Scope.extend(Layer.build(FetchHttpClient.layer), scope))

/** Each client has a license key of its own. */
const builders = {
  make: async (key) => {
    const options = { baseUrl, licenseKey: Redacted.make(key) }
    const advisor = await Effect.runPromise(Effect.provide(Scope.extend(make(options), scope), fetchClient))
    return () => Effect.runPromise(advisor.search("oats"))
  },
  createClient: async (key) => {
    const advisor = createClient({ baseUrl, licenseKey: key })
    return () => advisor.search("oats")
  },
  none: async () => async () => {},
  fiber: async () => {
    const untilNextCheck = () => Math.ceil((Date.now() + 48_000 + 24_000 * Math.random()) / 1_000) * 1_000 - Date.now()
    Effect.runFork(Effect.forever(Effect.suspend(() => Effect.sleep(untilNextCheck()))))
    return async () => {}
  }
}

const searches = []

const open = async (count) => {
  for (let index = 0; index < count; index++) {
    const search = await builders[kind](`license-${searches.length}`)
    await search()
    searches.push(search)
  }
}

const cpuOf = async (work) => {
  const before = cpuTime()
  await work()
  return cpuTime() - before
}

const turns = 5
const clientsPerTurn = 200
const searchesPerTurn = 1_000

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

await open(turns * clientsPerTurn)
const before = await usedHeap()
const opening = []
const searching = []
for (let turn = 0; turn < turns; turn++) {
  opening.push(await cpuOf(() => open(clientsPerTurn)))
  searching.push(
    await cpuOf(async () => {
      for (let index = 0; index < searchesPerTurn; index++) await searches[0]()
    })
  )
}
const kept = await usedHeap() - before
if (Number(idleMillis) > 0) {
  await usedHeap()
  await sleep(90_000)
}
const idling = await cpuOf(() => sleep(Number(idleMillis)))
console.log(JSON.stringify({
  bytes: kept / (turns * clientsPerTurn),
  opening: median(opening) / clientsPerTurn,
  search: median(searching) / searchesPerTurn,
  idleShare: idling / 1_000 / Number(idleMillis)
}))
await Effect.runPromise(Scope.close(scope, Exit.void))
process.exit()
