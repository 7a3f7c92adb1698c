/** `afterSearches.ts ORIGIN CLIENT`: searches twice, and prints how often the heap contains the key, and a string that it keeps. */
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { getHeapSnapshot } from "node:v8"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { clients } from "../../support/leaks/clients.js"

// Otherwise Node keeps the URLs of its fetch, as SECURITY.md says.
performance.setResourceTimingBufferSize(0)

const [baseUrl = "", clientName = ""] = process.argv.slice(2)

const client = clients.find(({ name }) => name === clientName)
if (client === undefined) throw new Error(`there is no client ${clientName}`)

/** Reverses a string, so that this file itself does not contain it. */
const made = (reversed: string) => [...reversed].reverse().join("")

const kept = made("tpek-si-taht-txet-a")

const key = "secivres-owt-rof-yek-esnecil-a"

const runtime = ManagedRuntime.make(
  NutritionAdvisor.layer({ baseUrl, licenseKey: Effect.sync(() => Redacted.make(made(key))) }).pipe(
    Layer.provide(client.layer)
  )
)

await runtime.runPromise(Effect.forEach(["oats", "apple"], (term) => Effect.exit(NutritionAdvisor.search(term))))
await setTimeout(100)
globalThis.gc?.()
const heap = await text(getHeapSnapshot())
const countOf = (secret: string) => heap.split(secret).length - 1
console.log(JSON.stringify({ key: countOf(made(key)), kept: countOf(kept) }))
await runtime.dispose()
