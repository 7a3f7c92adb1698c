/**
 * One worker of a queue of terms, as many of them as you like, on any machine: `npx tsx examples/bulk-queue/work.ts`, and
 * `--help`. What gives them terms is run.ts. Needs a Redis, and
 * `npm install @effect/platform-node@^0.108 bullmq@6.7.0 ioredis@^5`.
 */
import { parseArgs } from "node:util"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Queue, RateLimitError, Worker } from "bullmq"
import { Config, ConfigError, Console, Duration, Effect, Layer, Logger, Runtime } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError, RequestRetry, TokenProvider } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { settingsSentence } from "../settingsSentence.js"
import * as TermQueue from "./TermQueue.js"

const help = `Usage: work [--concurrency N] [--queue NAME]

Searches for the terms of a queue that run.ts fills, until it is interrupted.

  --concurrency N  searches at once in this process, 1 to 100; 16 by default
  --queue NAME     ${TermQueue.defaultName} by default

Needs a Redis, and npm install @effect/platform-node@^0.108 bullmq@6.7.0 ioredis@^5
NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY name the service, NUTRITION_ADVISOR_REDIS_URL the Redis.`

const commandLine = Effect.try({
  try: () =>
    parseArgs({
      options: {
        concurrency: { type: "string", default: "16" },
        queue: { type: "string", default: TermQueue.defaultName },
        help: { type: "boolean", default: false }
      }
    }).values,
  catch: () => new TermQueue.QueueFailure({ message: "The options are --concurrency N, --queue NAME and --help." })
}).pipe(
  Effect.filterOrFail(
    ({ concurrency, queue }) => /^([1-9]\d?|100)$/.test(concurrency) && TermQueue.isName(queue),
    () =>
      new TermQueue.QueueFailure({
        message:
          "--concurrency must be a whole number from 1 to 100, --queue a name of letters, digits, dots and dashes."
      })
  )
)

/** A worker on a busy machine rather waits for the shared token than exchanges the license key itself. */
const settings: Config.Config.Wrap<NutritionAdvisor.SharedOptions> = {
  baseUrl: Config.string("NUTRITION_ADVISOR_BASE_URL"),
  licenseKey: Config.redacted("NUTRITION_ADVISOR_LICENSE_KEY"),
  tokenTimeout: Config.succeed("20 seconds" as const),
  cacheTimeout: Config.succeed("20 seconds" as const),
  lease: Config.succeed("1 minute" as const)
}

/** One exchange for all workers; what fails for a moment is sent again within a budget. */
const Advisor = RequestRetry.layer().pipe(
  Layer.provideMerge(NutritionAdvisor.layerSharedConfig(settings)),
  Layer.provide([NodeHttpClient.layerUndici, RedisTokenCache.layerConfig()])
)

const unnamedPause = Duration.seconds(10)

const longestPause = Duration.hours(1)

const pauseOf = ({ retryAfter }: NutritionAdvisorError.TooManyRequests) =>
  Duration.toMillis(Duration.min(longestPause, retryAfter === undefined ? unnamedPause : Duration.seconds(retryAfter)))

type Answer = TermQueue.Outcome | { readonly pause: number }

/** A 429 says nothing about the term: it is for all workers to wait. */
const search = (term: string): Effect.Effect<Answer, never, NutritionAdvisor.NutritionAdvisor> =>
  NutritionAdvisor.search(term).pipe(
    Effect.match({
      onFailure: (error) =>
        error._tag === "TooManyRequests"
          ? { pause: pauseOf(error) }
          : { error: { _tag: error._tag, message: error.message } },
      onSuccess: (result) => ({ result })
    })
  )

/** Closing waits for the searches under way. */
const workerOf = (name: string, concurrency: number) =>
  Effect.gen(function*() {
    const connection = yield* TermQueue.connection
    const run = Runtime.runPromise(yield* Effect.runtime<NutritionAdvisor.NutritionAdvisor>())
    const queue = yield* TermQueue.scoped(() => new Queue<TermQueue.Term>(name, { connection }))
    const answer = async ({ data }: TermQueue.TermJob): Promise<TermQueue.Outcome> => {
      const answer = await run(search(data.term))
      if (!("pause" in answer)) return answer
      await queue.rateLimit(Math.max(answer.pause, await queue.getRateLimitTtl()))
      throw new RateLimitError()
    }
    const settings = { connection, concurrency, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 100 }
    return yield* TermQueue.scoped(() => new Worker<TermQueue.Term, TermQueue.Outcome>(name, answer, settings))
  })

const program = Effect.gen(function*() {
  const { concurrency, help: wantsHelp, queue } = yield* commandLine
  if (wantsHelp) return yield* Console.log(help)
  yield* Effect.gen(function*() {
    // Where no token can be had, each term would fail alike.
    yield* Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
    yield* workerOf(queue, Number(concurrency))
    yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(Advisor))
})

program.pipe(
  Effect.catchAll((error) =>
    Effect.zipRight(
      Console.error(ConfigError.isConfigError(error) ? settingsSentence(error) : error.message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
