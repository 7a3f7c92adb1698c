import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Effect } from "effect"

const request = HttpClientRequest.get("http://127.0.0.1:8080/v2/search?term=oats")
const web = new Response("{}")
const respond = (request: HttpClientRequest.HttpClientRequest) => HttpClientResponse.fromWeb(request, web)

const made = HttpClient.make((request) => Effect.succeed(respond(request))).execute(request)
const lean = HttpClient.makeWith<never, never, never, never>(Effect.map(respond), Effect.succeed).execute(request)

const turns = 200_000

const timed = (name: string, effect: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const begun = performance.now()
    for (let turn = 0; turn < turns; turn++) yield* effect
    console.log(name, (((performance.now() - begun) * 1000) / turns).toFixed(1), "µs")
  })

const round = Effect.gen(function*() {
  yield* timed("make, traced", made)
  yield* Effect.withTracerEnabled(timed("make, not traced", made), false)
  yield* timed("makeWith", lean)
})

await Effect.runPromise(Effect.repeatN(round, 2))
