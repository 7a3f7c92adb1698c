/** Clients that share a token, in a process of its own. Its parent sends how often each client searches, and gets a list of complaints. */
import { FetchHttpClient } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Deferred, Effect, Exit, Layer, Logger, LogLevel, Redacted, Runtime } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { describeExit } from "../../support/doubles/describeExit.js"

/** What a replica is started with, as JSON in its first argument. */
export interface Settings {
  readonly baseUrl: string
  readonly redisUrl: string
  /** How many clients the process has, each with its own connection to Redis. */
  readonly clients: number
}

/** How searches failed, and what was logged as a warning. */
export type Complaints = ReadonlyArray<string>

const { baseUrl, clients, redisUrl }: Settings = JSON.parse(process.argv[2] ?? "{}")

/** Redis may take long on a busy machine, and the lease must be longer than that. */
const Advisor = NutritionAdvisor.layerShared({
  baseUrl,
  licenseKey: Simulator.licenseKey,
  cacheTimeout: "20 seconds",
  lease: "1 minute"
}).pipe(
  Layer.provide([RedisTokenCache.layer({ url: Redacted.make(redisUrl), prefix: "fleet:" }), FetchHttpClient.layer])
)

const complaints: Array<string> = []

const ComplainingLogger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel, message }) => {
    if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) complaints.push(String(message))
  })
)

const search = Effect.map(Effect.exit(NutritionAdvisor.search("oats")), (exit) => {
  if (Exit.isFailure(exit)) complaints.push(describeExit(exit))
})

const program = Effect.gen(function*() {
  const runtime = yield* Effect.runtime<never>()
  const advisors = yield* Effect.replicateEffect(Layer.build(Layer.fresh(Advisor)), clients)
  const disconnected = yield* Deferred.make<boolean>()
  process.on("message", (count: number) => {
    const searches = advisors.flatMap((advisor) => Array.from({ length: count }, () => Effect.provide(search, advisor)))
    const all = Effect.all(searches, { concurrency: "unbounded" })
    Runtime.runFork(runtime)(Effect.map(all, () => process.send?.(complaints)))
  })
  process.once("disconnect", () => Deferred.unsafeDone(disconnected, Effect.succeed(true)))
  process.send?.("ready")
  yield* Deferred.await(disconnected)
})

program.pipe(Effect.scoped, Effect.provide(ComplainingLogger), NodeRuntime.runMain({ disablePrettyLogger: true }))
