import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { testLive } from "../doubles/arranged.js"

describe("the MCP server over HTTP", () => {
  testLive("makes no span of a request, which would show its URL and its headers", function*() {
    const names: Array<string> = []
    const tracer = Effect.map(Effect.tracer, (tracer) =>
      Tracer.make({
        context: tracer.context.bind(tracer),
        span: (name, ...rest) => {
          names.push(name)
          return tracer.span(name, ...rest)
        }
      }))
    const server = NutritionAdvisorMcp.layerHttp().pipe(
      Layer.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed({ results: [] }) })),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0 })),
      Layer.provide(Layer.unwrapEffect(Effect.map(tracer, Layer.setTracer)))
    )
    yield* Effect.gen(function*() {
      const call = { jsonrpc: "2.0", id: 1, method: "ping" }
      const { status } = yield* HttpServer.addressFormattedWith((address) =>
        Effect.promise(() => fetch(`${address}/mcp?token=secret`, { method: "POST", body: JSON.stringify(call) }))
      )
      expect(status).toBe(200)
      expect(names).toEqual([])
    }).pipe(Effect.provide(server))
  })
})
