/**
 * What a token costs: a `TokenProvider.get` that meets a fresh token, and the metrics of a search, next to the loop they run in; and storms of searches in
 * memory, next to the same searches with a token that is given. Rounds are interleaved; medians are printed.
 */
import { performance } from "node:perf_hooks"
import type { HttpClient } from "@effect/platform"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Option } from "effect"
import { AccessToken, NutritionAdvisor, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { observed } from "../src/internal/telemetry.js"

const rounds = 5

const gets = 200_000

const searches = 10_000

const hour = 3_600_000

const token = AccessToken.make({
  value: "token",
  serviceId: "customer",
  receivedAt: Date.now(),
  expiresAt: Date.now() + 24 * hour
})

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const interleaved = async (cases: Readonly<Record<string, () => Promise<number>>>) => {
  const times = new Map(Object.keys(cases).map((name): [string, Array<number>] => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(cases)) {
      const time = await measure()
      if (round > 0) times.get(name)?.push(time)
    }
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]))
}

const provider = ManagedRuntime.make(
  TokenProvider.layer().pipe(
    Layer.provide(Layer.succeed(TokenIssuer.TokenIssuer, { issue: () => Effect.succeed(token) })),
    Layer.provide(TokenStore.layer)
  )
)

const nanosEach = (effect: Effect.Effect<unknown, unknown>) => () => {
  const loop = Effect.gen(function*() {
    const start = performance.now()
    for (let index = 0; index < gets; index++) yield* effect
    return (performance.now() - start) * 1e6 / gets
  })
  return provider.runPromise(loop)
}

const { get } = await provider.runPromise(TokenProvider.TokenProvider)

const perGet = await interleaved({
  "loop alone": nanosEach(Effect.succeed(token)),
  "TokenProvider.get, fresh": nanosEach(get),
  "metrics of a search": nanosEach(observed("search")(Effect.succeed(token)))
})

const options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey, refresh: { background: false } }

const storm = (
  advisor: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, HttpClient.HttpClient>,
  when: "cold" | "revoked"
) =>
async () => {
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(advisor, Simulator.layerHttpClient()).pipe(
      Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Error))
    )
  )
  const all = Effect.all(
    Array.from({ length: searches }, () => NutritionAdvisor.search("apple")),
    { concurrency: "unbounded", discard: true }
  )
  const time = await runtime.runPromise(
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      if (when === "revoked") {
        yield* NutritionAdvisor.search("apple")
        yield* simulator.revoke
      }
      const start = performance.now()
      yield* all
      return performance.now() - start
    })
  )
  await runtime.dispose()
  return time
}

const Own = NutritionAdvisor.layer(options)

const Given = NutritionAdvisor.layerWithoutTokens(options).pipe(
  Layer.provideMerge(
    Layer.effect(
      TokenProvider.TokenProvider,
      Effect.gen(function*() {
        const issuer = yield* TokenIssuer.TokenIssuer
        const given = yield* Effect.orDie(issuer.issue(Option.none()))
        return {
          get: Effect.succeed(given),
          renew: () => Effect.succeed(given),
          settled: () => Effect.void,
          status: Effect.dieMessage("no status")
        }
      })
    )
  ),
  Layer.provide(TokenIssuer.layer(options))
)

const perStorm = await interleaved({
  "with a given token": storm(Given, "cold"),
  "cold": storm(Own, "cold"),
  "revoked": storm(Own, "revoked")
})

const row = (name: string, value: string, ratio: number) =>
  console.log(`${name.padEnd(32)}${value.padStart(12)}${ratio.toFixed(2).padStart(8)}`)

const table = (title: string, times: ReadonlyMap<string, number>, unit: string) => {
  const [reference = 1] = times.values()
  console.log(`${title.padEnd(32)}${unit.padStart(12)}${"ratio".padStart(8)}`)
  for (const [name, time] of times) row(name, time.toFixed(0), time / reference)
}

table("One token", perGet, "ns")
table(`${searches} searches in memory`, perStorm, "ms")

await provider.dispose()
