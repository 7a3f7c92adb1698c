/**
 * Sends a request to another route of the service. The authorized HttpClient resolves relative URLs, adds both headers, and renews a
 * rejected token.
 * `npx tsx examples/other-routes.ts` needs nothing besides the package.
 */
import { HttpClientRequest } from "@effect/platform"
import { Console, Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const Simulated = Simulator.layerHttpClient({
  routes: {
    "GET /v2/diary": ({ query }) => ({ status: 200, body: { asked: query } }),
    "POST /v2/diary": ({ body }) => ({ status: 201, body: JSON.parse(new TextDecoder().decode(body)) })
  }
})

const Advisor = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey
}).pipe(Layer.provideMerge(Simulated))

const program = Effect.gen(function*() {
  const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
  const simulator = yield* Simulator.Simulator

  const read = yield* httpClient.get("/v2/diary", { urlParams: { day: "2026-11-20" } })
  yield* Console.log("GET", read.status, yield* read.json)

  yield* simulator.revoke
  const entry = HttpClientRequest.post("/v2/diary").pipe(
    HttpClientRequest.bodyUnsafeJson({ food: "apple", grams: 182 })
  )
  const written = yield* httpClient.execute(entry)
  yield* Console.log("POST", written.status, yield* written.json, "sent again after the token was revoked")
})

await Effect.runPromise(Effect.provide(program, Advisor))
