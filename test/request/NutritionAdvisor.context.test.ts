import { FetchHttpClient, Headers, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, FiberRef, Layer, Logger, LogLevel } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test } from "../support/doubles/arranged.js"
import { composedAdvisor } from "../support/doubles/simulatedAdvisor.js"
import { wrapping } from "../support/leaks/clients.js"
import { secretHeaders } from "../support/tables/secretHeaders.js"
import { isExchange } from "../support/tables/tokenRoutes.js"

const options: NutritionAdvisor.Options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

/** Adds each line of the log, as JSON. */
const layerLogTo = (lines: Array<string>) =>
  Logger.replace(Logger.defaultLogger, Logger.map(Logger.jsonLogger, (line) => lines.push(line)))

describe("serviceIdHeader in logs", () => {
  const headers = { "x-tenant": "tenant-4711", "service-id": "customer-4711" }

  /** What is logged if a program logs its own request. */
  const logged = Effect.gen(function*() {
    const lines: Array<string> = []
    yield* Effect.log(HttpClientRequest.get("https://shop.example", { headers })).pipe(
      Effect.provide(layerLogTo(lines))
    )
    return lines.join()
  })

  test.each(
    [
      ["layer", NutritionAdvisor.layer],
      ["layerWithoutTokens", composedAdvisor]
    ] as const
  )("the header is redacted in a program with %s until its layer is closed", function*([, layer]) {
    const over = Layer.provide(layer({ ...options, serviceIdHeader: "x-tenant" }), Simulator.layerHttpClient())
    const [before, within, after] = [yield* logged, yield* Effect.provide(logged, over), yield* logged]
    expect(before).toContain("tenant-4711")
    expect(within).not.toContain("tenant-4711")
    expect(after).toContain("tenant-4711")
  })

  test("the headers of two layers are both redacted", function*() {
    const over = (serviceIdHeader: string) =>
      Layer.provide(NutritionAdvisor.layer({ ...options, serviceIdHeader }), Simulator.layerHttpClient())
    const text = yield* logged.pipe(Effect.provide(over("x-tenant")), Effect.provide(over("service-id")))
    expect(["tenant-4711", "customer-4711"].filter((value) => text.includes(value))).toEqual([])
  })

  test("the header is registered once, however many clients a fiber opens", function*() {
    yield* Effect.provide(Effect.replicateEffect(NutritionAdvisor.make(options), 3), Simulator.layerHttpClient())
    const names = yield* FiberRef.get(Headers.currentRedactedNames)
    expect(names.filter((name) => name === "service-id")).toHaveLength(1)
  })
})

test("headers that carry secrets, in logs: each is redacted in each request that a wrapper logs with Effect.log", function*() {
  const headers = Object.fromEntries(secretHeaders.map((name) => [name, `secret in ${name}`]))
  const logRequest = HttpClient.tapRequest((request) => Effect.log(HttpClientRequest.setHeaders(request, headers)))
  const lines: Array<string> = []
  yield* Effect.provide(
    NutritionAdvisor.search("oats"),
    NutritionAdvisor.layer(options).pipe(
      Layer.provide(wrapping(Simulator.layerHttpClient(), logRequest)),
      Layer.provide(layerLogTo(lines))
    )
  )
  expect(lines).toEqual([expect.stringContaining("POST"), expect.stringContaining("GET")])
  expect(secretHeaders.filter((name) => lines.join().includes(`secret in ${name}`))).toEqual([])
})

describe("exchange runs in the context of the layer, not of its caller", () => {
  test("the fetch function comes from the context of the layer", function*() {
    const callers: Array<string> = []
    const fetchOf = (name: string): typeof globalThis.fetch => (input) => {
      if (isExchange(String(input))) callers.push(name)
      // The response to a search, too.
      return Promise.resolve(Response.json({ access_token: "token-1", customer_id: "customer-1", expires_in: 3600 }))
    }
    const advisor = yield* NutritionAdvisor.make(options).pipe(
      Effect.provide(FetchHttpClient.layer),
      Effect.provideService(FetchHttpClient.Fetch, fetchOf("layer"))
    )
    yield* Effect.provideService(advisor.search("oats"), FetchHttpClient.Fetch, fetchOf("caller"))
    expect(callers).toEqual(["layer"])
  })

  test("loggers and the log level come from the layer", function*() {
    const lines: Array<string> = []
    const record = (name: string) =>
      Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(`${name}: ${String(message)}`)))
    const advisor = yield* NutritionAdvisor.make(options).pipe(
      Logger.withMinimumLogLevel(LogLevel.Debug),
      Effect.provide([Simulator.layerHttpClient(), record("layer")])
    )
    yield* Effect.provide(advisor.search("oats"), record("caller"))
    expect(lines).toEqual(["layer: An exchange begins", "layer: An exchange ended: issued"])
  })
})
