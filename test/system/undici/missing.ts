/** A search over UndiciClient: what it ends in. */
import { createClient } from "effect-nutrition-advisor/promise"
import { UndiciClient } from "effect-nutrition-advisor/undici"

await using advisor = createClient({
  baseUrl: "https://nutrition.example",
  licenseKey: "key",
  httpClient: UndiciClient.layer()
})

console.log(await advisor.search("oats").catch(String))
