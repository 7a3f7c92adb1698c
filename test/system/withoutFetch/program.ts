/** Calls the service at the origin that is its argument through each client, and prints how each call ended. */
import { Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"
import { clients } from "../../support/leaks/clients.js"

const [baseUrl = ""] = process.argv.slice(2)

const resultOf = (promise: Promise<unknown>) => promise.then(() => "a response", String)

const plan = NutritionAdvisor.NutritionAdvisor.pipe(
  Effect.flatMap(({ httpClient }) => httpClient.get("/v2/plan")),
  Effect.flatMap((response) => response.json)
)

const ends: Record<string, string> = { fetch: typeof fetch }
for (const { layer: httpClient, name } of clients.filter(({ name }) => name !== "fetch")) {
  await using client = createClient({ baseUrl, licenseKey: "key-of-a-program", httpClient })
  const advisor = NutritionAdvisor.layer({ baseUrl, licenseKey: Redacted.make("key-of-a-program") })
  ends[`${name}: search`] = await resultOf(client.search("oats"))
  ends[`${name}: fetch`] = await resultOf(client.fetch("/v2/plan"))
  ends[`${name}: httpClient`] = await resultOf(
    Effect.runPromise(Effect.provide(plan, Layer.provide(advisor, httpClient)))
  )
}
await using client = createClient({ baseUrl, licenseKey: "key-of-a-program" })
ends["createClient()"] = await resultOf(client.search("oats"))

console.log(JSON.stringify(ends))
