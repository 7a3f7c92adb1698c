/**
 * Three workers, each in its own process, share one token through Redis. `npx tsx examples/shared-token.ts` uses the Redis at
 * NUTRITION_ADVISOR_REDIS_URL, or the one on this machine. Needs `npm install @effect/platform-node@^0.108 ioredis`.
 */
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { Command, FetchHttpClient, HttpServer } from "@effect/platform"
import { NodeContext, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Metric, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"

/** Starts a worker on the runtime of this process: Node with tsx, Bun or Deno. */
const flags = "deno" in process.versions ? ["run", "--allow-all"] : process.execArgv

const Advisor = NutritionAdvisor.layerSharedConfig().pipe(
  Layer.provide([FetchHttpClient.layer, RedisTokenCache.layerConfig()])
)

const howTheTokenCame = Effect.map(
  Metric.snapshot,
  (metrics) =>
    metrics.filter((metric) =>
      metric.metricKey.name === "nutrition_advisor_shared_tokens_total" && "count" in metric.metricState &&
      Number(metric.metricState.count) > 0
    )
      .flatMap((metric) => metric.metricKey.tags.map(({ value }) => value))
      .join()
)

const worker = Effect.gen(function*() {
  yield* NutritionAdvisor.search("lentils")
  console.log(yield* howTheTokenCame)
}).pipe(Effect.provide(Advisor))

const sentences: Record<string, string> = {
  HandedOver: "got the token of another worker",
  Exchanged: "exchanged the license key",
  ExchangedAlone: "exchanged the license key by itself, because the cache could not be used or lost the lease"
}

const fleet = Effect.gen(function*() {
  const simulator = yield* Simulator.Simulator
  const { address } = yield* HttpServer.HttpServer
  yield* simulator.setTokenLifetime(60)
  yield* simulator.setLatency("token", "500 millis")
  const settings = {
    NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`,
    NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey),
    NUTRITION_ADVISOR_REDIS_URL: process.env.NUTRITION_ADVISOR_REDIS_URL ?? "redis://127.0.0.1:6379",
    NUTRITION_ADVISOR_REDIS_PREFIX: `example-${process.pid}:`
  }
  const file = fileURLToPath(import.meta.url)
  const runWorker = Command.make(process.execPath, ...flags, file, "worker").pipe(
    Command.env(settings),
    Command.stderr("inherit"),
    Command.string
  )
  yield* Effect.forEach(
    ["Anna", "Ben", "Cleo"],
    (name) =>
      Effect.map(runWorker, (output) => {
        const said = output.trim().split("\n").at(-1) ?? ""
        console.log(`${name} ${sentences[said] ?? `failed: ${said}`}.`)
      }),
    { concurrency: "unbounded" }
  )
  const { exchanges, searches } = yield* simulator.counters
  console.log(`${searches} searches, ${exchanges} exchange${exchanges === 1 ? "" : "s"}.`)
}).pipe(
  Effect.scoped,
  Effect.provide([
    NodeContext.layer,
    Simulator.layerServer().pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  ])
)

if (process.argv[2] === "worker") NodeRuntime.runMain(worker)
else NodeRuntime.runMain(fleet)
