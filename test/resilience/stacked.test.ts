import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { UndiciClient } from "effect-nutrition-advisor/undici"

type Around = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, NutritionAdvisor.NutritionAdvisor>

const three: Readonly<Record<string, Around>> = {
  cache: SearchCache.layer({ timeToLive: "1 hour" }),
  retry: RequestRetry.layer({ base: "1 millis" }),
  throttle: Throttle.layer({ onTooManyRequests: "wait", rate: { limit: 1_000, interval: "1 second" } })
}

const ordersOf = (names: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  names.length < 2
    ? [names]
    : names.flatMap((first) => ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]))

const orders = ordersOf(Object.keys(three)).map((order) => order.join(" around "))

const stacked = (order: string) => {
  const layers = order.split(" around ").flatMap((name) => three[name] ?? [])
  return (client: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>) =>
    layers.reduceRight<typeof client>((inner, outer) => Layer.provide(outer, inner), client)
}

const Service = Simulator.layerServer().pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

const origin = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
)

const shares = ["layer", "layerShared"] as const

/** A 503 and a broken connection before the payload; then the same again, from memory, while the service is down. */
const searches = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  yield* simulator.respondNext("search", { status: 503 }, "drop")
  const found = yield* NutritionAdvisor.search("oats")
  yield* simulator.respondAlways("search", { status: 400 })
  expect(yield* NutritionAdvisor.search("oats")).toEqual(found)
  expect((yield* simulator.counters).searches).toBe(3)
  const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
  yield* simulator.respondNext("request", { status: 503 })
  expect(yield* Effect.flip(httpClient.get("/v2/plan"))).toMatchObject({ _tag: "UnexpectedResponse", status: 404 })
  expect((yield* simulator.counters).requests).toBe(2)
  expect(yield* Effect.flip(NutritionAdvisor.search("rice"))).toMatchObject({ _tag: "BadRequest", status: 400 })
})

describe("cache, retry and throttle", () => {
  for (const share of shares) {
    it.scopedLive.each(orders)(
      `search over a port with UndiciClient and ${share}: %s`,
      (order) =>
        Effect.gen(function*() {
          const baseUrl = yield* origin
          const options = { baseUrl, licenseKey: Simulator.licenseKey }
          const client = share === "layer"
            ? NutritionAdvisor.layer(options)
            : Layer.provide(NutritionAdvisor.layerShared(options), SharedTokenCache.layerMemory)
          yield* Effect.provide(searches, stacked(order)(Layer.provide(client, UndiciClient.layer())))
        }).pipe(Effect.provide(Service))
    )
  }
})
