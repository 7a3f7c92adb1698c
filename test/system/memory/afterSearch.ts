/** `afterSearch.ts ORIGIN CLIENT`: searches, and prints how often the key, which an Effect has read, stands in the memory of this process. */
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { getHeapSnapshot } from "node:v8"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"

const clients = {
  FetchHttpClient: FetchHttpClient.layer,
  layerUndici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer,
  UndiciClient: Layer.orDie(UndiciClient.layer())
}

performance.setResourceTimingBufferSize(0)

const [baseUrl = "", client = ""] = process.argv.slice(2)

/** Never as it is in this file, or in an argument. */
const reversed = "7Q-yek-eht-fo-rekram"

const read = () => Redacted.make([...reversed].reverse().join(""))

const runtime = ManagedRuntime.make(
  NutritionAdvisor.layer({ baseUrl, licenseKey: Effect.sync(read) }).pipe(
    Layer.provide(clients[client as keyof typeof clients])
  )
)

await runtime.runPromise(Effect.zipRight(NutritionAdvisor.search("oats"), NutritionAdvisor.search("apple")))
for (let turn = 0; turn < 3; turn++) {
  await setTimeout(100)
  globalThis.gc?.()
}
const heap = await text(getHeapSnapshot())
console.log(heap.split(Redacted.value(read())).length - 1)
await runtime.dispose()
