/**
 * The spans of one user request in OpenTelemetry, down to the token exchange: it starts three searches without a token, so all three wait
 * for one exchange. The exchange has a root span, and the span of each search has a link to it.
 * `npx tsx examples/telemetry.ts` needs
 * `npm install @effect/platform-node@^0.108 @effect/opentelemetry@^0.64 @opentelemetry/sdk-trace-base@2.12.0`.
 */
import { NodeSdk } from "@effect/opentelemetry"
import { ConsoleSpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { Effect, Layer } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { AdvisorLive } from "./AdvisorLive.js"

const Telemetry = NodeSdk.layer(() => ({
  resource: { serviceName: "menu" },
  spanProcessor: new SimpleSpanProcessor(new ConsoleSpanExporter())
}))

const menu = Effect.forEach(["apple", "oats", "lentils"], (term) => NutritionAdvisor.search(term), {
  concurrency: "unbounded",
  discard: true
}).pipe(Effect.withSpan("planMenu"))

await Effect.runPromise(menu.pipe(Effect.provide(Layer.provideMerge(AdvisorLive, Telemetry))))
