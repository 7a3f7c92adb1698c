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

const openers = {
  createClient: async (licenseKey: string) => {
    const advisor = createClient({ baseUrl, licenseKey, httpClient })
    await advisor.search("oats")
    return advisor
  },
  make: (licenseKey: string) =>
    NutritionAdvisor.make({ baseUrl, licenseKey: Redacted.make(licenseKey) }).pipe(
      Effect.tap(({ search }) => search("oats")),
      Scope.extend(scope),
      Effect.provide(httpClient),
      Effect.runPromise
    )
}

const opened: Array<unknown> = []

const open = async (kind: keyof typeof openers, count: number) => {
  for (let index = 0; index < count; index++) opened.push(await openers[kind](`key-${opened.length}`))
}

const heap = async () => {
  for (let turn = 0; turn < 4; turn++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}

const costOf = async (kind: keyof typeof openers) => {
  await open(kind, 200)
  const before = await heap()
  await open(kind, 200)
  return (await heap() - before) / 200
}

console.log(JSON.stringify({ createClient: await costOf("createClient"), make: await costOf("make") }))
process.exit()
