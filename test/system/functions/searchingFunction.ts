/** A function as a process: it searches so many times at once as it is ordered to. Without orders it ends once nothing keeps it alive. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import type { Letter } from "../storms/OrderedProcess.js"

/** As JSON in the first argument. */
export interface Settings {
  readonly baseUrl: string
  readonly background: boolean
  /** Where a token is shared. */
  readonly redisUrl?: string
  /** In milliseconds; the defaults of the library where they are left out. */
  readonly lease?: number
  readonly tokenTimeout?: number
  readonly requestTimeout?: number
}

/** How often a search was answered, or ended in this error. */
export type Outcomes = Readonly<Record<string, number>>

const settings: Settings = JSON.parse(process.argv[2] ?? "{}")

const { background, redisUrl, ...times } = settings

const options = { ...times, licenseKey: Simulator.licenseKey, refresh: { background } }

const advisor = redisUrl === undefined
  ? NutritionAdvisor.layer(options)
  : Layer.provide(
    NutritionAdvisor.layerShared(options),
    RedisTokenCache.layer({ url: Redacted.make(redisUrl), prefix: "functions:" })
  )

const logsOnStderr = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))

const runtime = ManagedRuntime.make(Layer.provide(advisor, [NodeHttpClient.layerUndici, logsOnStderr]))

const search = NutritionAdvisor.search("oats").pipe(
  Effect.match({
    onFailure: (error) => "reason" in error ? `${error._tag} ${error.reason}` : error._tag,
    onSuccess: () => "answered"
  })
)

const outcomesOf = (all: ReadonlyArray<string>): Outcomes => {
  const outcomes: Record<string, number> = {}
  for (const one of all) outcomes[one] = (outcomes[one] ?? 0) + 1
  return outcomes
}

process.on("message", ({ id, order }: Letter<number>) => {
  const searches = Effect.all(Array.from({ length: order }, () => search), { concurrency: "unbounded" })
  void runtime.runPromise(searches).then((all) => process.send?.({ id, sight: outcomesOf(all) }))
})

process.send?.({ name: "ready" })
