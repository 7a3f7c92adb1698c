/** A replica of a fleet, or several: clients with a shared token, in a process that gets its orders over Node's IPC. */
import { FetchHttpClient } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Array as Arr, type Context, Deferred, Effect, Exit, Layer, Logger, LogLevel, Redacted, Runtime } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { endOf } from "../../support/doubles/endOf.js"
import * as Metrics from "../../support/doubles/metrics.js"
import type { Letter, Receipt } from "../storms/OrderedProcess.js"

/** What a replica is started with, as JSON in its first argument. */
export interface Settings {
  readonly baseUrl: string
  readonly redisUrl: string
  /** In milliseconds, as the next one; the defaults of the library where they are left out. */
  readonly lease?: number
  readonly tokenTimeout?: number
  /** In milliseconds; 2,500 by default, the most that the usual lease allows: Redis may take long on a busy machine. */
  readonly cacheTimeout?: number
  /** How many clients the process has, each with its own connection to Redis; 1 by default. */
  readonly clients?: number
}

/** So many searches at once, of one client after another; carried out when all have ended. */
export interface Order {
  readonly name: "search"
  readonly count: number
}

/** What a replica has seen since it was started. */
export interface Report {
  readonly answered: number
  /** How often searches failed, by the error. */
  readonly failed: Readonly<Record<string, number>>
  /** How often the replica came by a token, by the `outcome` of the metric. */
  readonly tokens: Readonly<Record<string, number>>
  readonly warnings: number
}

export interface Greeting {
  readonly name: "ready"
}

const tokensMetric = "nutrition_advisor_shared_tokens_total"

const terms = ["greek yogurt", "oats", "banana", "low sugar breakfast"]

const { cacheTimeout = 2_500, clients = 1, redisUrl, ...settings }: Settings = JSON.parse(process.argv[2] ?? "{}")

const seen = { answered: 0, failed: new Map<string, number>(), warnings: 0 }

type Client = Context.Context<NutritionAdvisor.NutritionAdvisor>

const search = (client: Client, index: number) =>
  Effect.map(
    Effect.exit(Effect.provide(NutritionAdvisor.search(terms[index % terms.length] ?? ""), client)),
    (exit) => {
      if (Exit.isSuccess(exit)) seen.answered += 1
      else seen.failed.set(endOf(exit), (seen.failed.get(endOf(exit)) ?? 0) + 1)
    }
  )

const searches = (all: ReadonlyArray<Client>, count: number) =>
  Effect.forEach(
    Arr.makeBy(count, (index) => index),
    (index) => Effect.flatMap(Effect.fromNullable(all[index % all.length]), (client) => search(client, index)),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.orDie)

const report: Effect.Effect<Report> = Effect.map(Metrics.snapshot, (all) => ({
  answered: seen.answered,
  failed: Object.fromEntries(seen.failed),
  tokens: Object.fromEntries(
    all.flatMap(({ count, labels, name }) =>
      name === tokensMetric ? Object.values(labels).map((label) => [label, count ?? 0]) : []
    )
  ),
  warnings: seen.warnings
}))

const CountedWarnings = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ logLevel }) => {
    if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) seen.warnings += 1
  })
)

const send = (message: Greeting | Receipt<Report>) => process.send?.(message)

const Advisor = NutritionAdvisor.layerShared({ ...settings, cacheTimeout, licenseKey: Simulator.licenseKey }).pipe(
  Layer.provide([RedisTokenCache.layer({ url: Redacted.make(redisUrl), prefix: "fleet:" }), FetchHttpClient.layer])
)

const program = Effect.gen(function*() {
  const runtime = yield* Effect.runtime<never>()
  const all = yield* Effect.replicateEffect(Layer.build(Layer.fresh(Advisor)), clients)
  const disconnected = yield* Deferred.make<boolean>()
  process.on("message", ({ id, order }: Letter<Order>) => {
    Runtime.runFork(runtime)(
      Effect.map(Effect.zipRight(searches(all, order.count), report), (sight) => send({ id, sight }))
    )
  })
  process.once("disconnect", () => Deferred.unsafeDone(disconnected, Effect.succeed(true)))
  send({ name: "ready" })
  yield* Deferred.await(disconnected)
})

program.pipe(Effect.scoped, Effect.provide(CountedWarnings), NodeRuntime.runMain({ disablePrettyLogger: true }))
