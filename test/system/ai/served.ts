/** The MCP server over HTTP in the test's own process. */
import { createServer } from "node:http"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import { NutritionAdvisorMcp } from "effect-nutrition-advisor/ai"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { arrangedLive } from "../../doubles/arranged.js"

export const url = HttpServer.addressFormattedWith((origin) => Effect.succeed(`${origin}/mcp`))

export const served = <E, R>(
  advisor: Layer.Layer<NutritionAdvisor.NutritionAdvisor, E, R>,
  options?: NutritionAdvisorMcp.HttpOptions
) =>
  NutritionAdvisorMcp.layerHttp(options).pipe(
    Layer.provide(advisor),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )

/** Finds whatever it is asked for. */
export const finding = NutritionAdvisorTest.layer({ search: (term) => Effect.succeed({ results: [{ name: term }] }) })

/** Tests with the address of such a server. */
export const overHttp = arrangedLive(url, served(finding))
