/** One search through each client, in a process whose environment the test chooses. */
import { Console, Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { clients } from "../../leaks/clients.js"

const [baseUrl = "", licenseKey = ""] = process.argv.slice(2)

const searchWith = (client: (typeof clients)[number]) =>
  NutritionAdvisor.search("apple").pipe(
    Effect.provide(
      NutritionAdvisor.layer({ baseUrl, licenseKey: Redacted.make(licenseKey), refresh: { background: false } }).pipe(
        Layer.provide(client.layer)
      )
    ),
    Effect.zipRight(Console.log(`found by ${client.name}`))
  )

await Effect.runPromise(Effect.forEach(clients, searchWith, { discard: true }))
