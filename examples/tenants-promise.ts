/**
 * Many license keys in one process, with async/await: each tenant has its own client and token. A client is closed when its tenant has been
 * idle for a while, but not while it has pending searches, because `close` rejects them. All tenants share one HttpClient.
 * `npx tsx examples/tenants-promise.ts` needs nothing besides the package.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Layer, ManagedRuntime } from "effect"
import { type Client, createClient } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"

const keys = new Map([["north", "key-of-north"], ["south", "key-of-south"]])

/** Runs at each exchange, so that a changed key is used without a restart. */
const licenseKeyOf = async (name: string) => {
  const key = keys.get(name)
  if (key === undefined) throw new Error("there is no such tenant")
  return key
}

const simulated = ManagedRuntime.make(Simulator.layerHttpClient({ licenseKeys: [...keys.values()] }))

const httpClient = Layer.effectContext(Effect.map(simulated.runtimeEffect, ({ context }) => context))

interface Tenant {
  readonly advisor: Client
  pendingSearches: number
  usedAt: number
}

const tenants = new Map<string, Tenant>()

const open = (name: string): Tenant => {
  const advisor = createClient({ baseUrl: Simulator.baseUrl, licenseKey: () => licenseKeyOf(name), httpClient })
  const tenant = { advisor, pendingSearches: 0, usedAt: Date.now() }
  tenants.set(name, tenant)
  return tenant
}

const searchFor = async (name: string, term: string) => {
  const tenant = tenants.get(name) ?? open(name)
  tenant.pendingSearches += 1
  try {
    return await tenant.advisor.search(term)
  } finally {
    tenant.pendingSearches -= 1
    tenant.usedAt = Date.now()
  }
}

/**
 * In milliseconds. In a backend, use a day: an idle client needs about 27 kB, and a tenant that returns later has to exchange its key again.
 */
const idleTime = 2_000

const closeIdle = () => {
  for (const [name, { advisor, pendingSearches, usedAt }] of tenants) {
    if (pendingSearches > 0 || Date.now() - usedAt < idleTime) continue
    tenants.delete(name)
    console.log(`${name} is closed`)
    void advisor.close()
  }
}

const closing = setInterval(closeIdle, 100)

const control = <A>(use: (simulator: Simulator.Service) => Effect.Effect<A>) =>
  simulated.runPromise(Effect.flatMap(Simulator.Simulator, use))

const exchangesSoFar = async () => (await control(({ counters }) => counters)).exchanges

const searchTwice = async (name: string) => {
  const before = await exchangesSoFar()
  await Promise.all(["oats", "apple"].map((term) => searchFor(name, term)))
  console.log(`${name}: 2 searches, exchanges ${await exchangesSoFar() - before}`)
}

await searchTwice("north")
await control(({ setLatency }) => setLatency("search", "4 seconds"))
const slow = searchTwice("south")
await sleep(3_000)
console.log(`still open: ${[...tenants.keys()].join()}`)
await slow
await control(({ setLatency }) => setLatency("search", 0))
await searchTwice("south")
await searchTwice("north")

clearInterval(closing)
await Promise.all(Array.from(tenants.values(), ({ advisor }) => advisor.close()))
await simulated.dispose()
