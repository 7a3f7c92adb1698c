/** `afterSearches.ts ORIGIN CLIENT`: searches twice, and prints how often two texts stand in its memory: the key, and one that it keeps. */
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { getHeapSnapshot } from "node:v8"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"

// As SECURITY.md says: Node notes the URLs of its fetch.
performance.setResourceTimingBufferSize(0)

const clients = {
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer,
  UndiciClient: Layer.orDie(UndiciClient.layer())
}

const [baseUrl = "", client = ""] = process.argv.slice(2)

/** A text that stands in this file in reverse only. */
const made = (reversed: string) => [...reversed].reverse().join("")

const kept = made("tpek-si-taht-txet-a")

const key = "secivres-owt-rof-yek-esnecil-a"

const runtime = ManagedRuntime.make(
  NutritionAdvisor.layer({ baseUrl, licenseKey: Effect.sync(() => Redacted.make(made(key))) }).pipe(
    Layer.provide(clients[client as keyof typeof clients])
  )
)

await runtime.runPromise(Effect.forEach(["oats", "apple"], (term) => Effect.exit(NutritionAdvisor.search(term))))
await setTimeout(100)
globalThis.gc?.()
const heap = await text(getHeapSnapshot())
const countOf = (secret: string) => heap.split(secret).length - 1
console.log(JSON.stringify({ key: countOf(made(key)), kept: countOf(kept) }))
await runtime.dispose()
