/** Calls the service at the origin that is its argument through each client, and prints how each call ended. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"
import { UndiciClient } from "effect-nutrition-advisor/undici"

const [baseUrl = ""] = process.argv.slice(2)

const clients = {
  UndiciClient: Layer.orDie(UndiciClient.layer()),
  layerUndici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layer
}

const told = (promise: Promise<unknown>) => promise.then(() => "a response", String)

const plan = NutritionAdvisor.NutritionAdvisor.pipe(
  Effect.flatMap(({ httpClient }) => httpClient.get("/v2/plan")),
  Effect.flatMap((response) => response.json)
)

const ends: Record<string, string> = { fetch: typeof fetch }
for (const [name, httpClient] of Object.entries(clients)) {
  await using client = createClient({ baseUrl, licenseKey: "key-of-a-program", httpClient })
  const advisor = NutritionAdvisor.layer({ baseUrl, licenseKey: Redacted.make("key-of-a-program") })
  ends[`${name}: search`] = await told(client.search("oats"))
  ends[`${name}: fetch`] = await told(client.fetch("/v2/plan"))
  ends[`${name}: httpClient`] = await told(
    Effect.runPromise(Effect.provide(plan, Layer.provide(advisor, httpClient)))
  )
}
await using client = createClient({ baseUrl, licenseKey: "key-of-a-program" })
ends["createClient()"] = await told(client.search("oats"))

console.log(JSON.stringify(ends))
