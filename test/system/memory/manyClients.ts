/** `manyClients.ts`: prints how many bytes of the heap one more client keeps after its first search, over a service in memory. */
import { setImmediate } from "node:timers/promises"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Layer, Redacted, Scope } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { createClient } from "effect-nutrition-advisor/promise"

const token = { access_token: "token", expires_in: 86_400, customer_id: "customer" }

const httpClient = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, Response.json(token))))
)

const baseUrl = "https://service.example"

const scope = Effect.runSync(Scope.make())

const opened: Array<unknown> = []

/** The heap after 200 more clients, and a collection. */
const heapAfter = async (open: (licenseKey: string) => Promise<unknown>) => {
  for (let index = 0; index < 200; index++) opened.push(await open(`key-${opened.length}`))
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}

const costOf = async (open: (licenseKey: string) => Promise<unknown>) => {
  const before = await heapAfter(open)
  return (await heapAfter(open) - before) / 200
}

const createClientCost = await costOf(async (licenseKey) => {
  const advisor = createClient({ baseUrl, licenseKey, httpClient })
  await advisor.search("oats")
  return advisor
})

const makeCost = await costOf((licenseKey) =>
  NutritionAdvisor.make({ baseUrl, licenseKey: Redacted.make(licenseKey) }).pipe(
    Effect.tap(({ search }) => search("oats")),
    Scope.extend(scope),
    Effect.provide(httpClient),
    Effect.runPromise
  )
)

console.log(JSON.stringify({ createClient: createClientCost, make: makeCost }))
process.exit()
