/**
 * Searches for each line of a text file, and appends each result to another file as a line of JSON. You can
 * stop it with Ctrl-C (or SIGTERM): run the same command again, and it continues where it stopped.
 *
 *     npm install effect-nutrition-advisor effect@^3.22 @effect/platform@^0.97 \
 *       @effect/platform-node@^0.108
 *     export NUTRITION_ADVISOR_BASE_URL=https://... NUTRITION_ADVISOR_LICENSE_KEY=...
 *     npx tsx bulk-search.ts terms.txt foods.jsonl
 *
 * Each line is one term, and is used as is. If your terms are a column of a CSV file, write that column to a text
 * file first.
 *
 * You can copy this file: it needs no other file. To try it without a license key, start
 * `npx effect-nutrition-advisor-simulator`, and use the base URL and the key that it prints.
 *
 * - The output file records which terms are done. A term that has a line there is not searched again.
 *   The lines are in the order in which the searches ended. `line` is the line number of the term.
 * - A search that fails because of an outage, a timeout or a 429 is retried for BULK_PATIENCE ("1 hour").
 * - A term that can't be searched, such as a blank one, gets a line with `error` instead of `result`.
 * - If no search can succeed, for example because the license key is wrong, the job ends with code 1.
 * - BULK_RATE ("20") is the number of searches per second. Keep it a little below your limit.
 * - Progress is shown on standard error if that is a terminal. Warnings and errors go there as well.
 */
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import {
  Cause,
  Config,
  ConfigError,
  Console,
  Data,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  Schedule,
  Schema,
  Stream
} from "effect"
import { NutritionAdvisor, NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"

/** How many searches run at the same time. Ctrl-C interrupts them, so the next run repeats them. */
const workers = 8

const settings = Config.all({
  rate: Config.integer("BULK_RATE").pipe(
    Config.validate({ message: "must be a whole number above 0", validation: (rate) => rate > 0 }),
    Config.withDefault(20)
  ),
  patience: Config.duration("BULK_PATIENCE").pipe(Config.withDefault(Duration.hours(1)))
})

const again = "run the same command again to continue."

/** The job can't go on. The message says why, and what to do. */
class Stopped extends Data.TaggedError("Stopped")<{ readonly message: string }> {}

interface Term {
  /** The number of its line, from 1. */
  readonly line: number
  readonly term: string
}

// Files

const linesOf = (path: string) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))).pipe(
    Stream.decodeText(),
    Stream.splitLines
  )

const termsOf = (path: string) =>
  linesOf(path).pipe(
    Stream.zipWithIndex,
    Stream.map(([term, index]): Term => ({ line: index + 1, term }))
  )

const keyOf = ({ line, term }: Term) => `${line} ${term}`

const decodeDone = Schema.decodeOption(
  Schema.parseJson(Schema.Struct({ line: Schema.Number, term: Schema.String, error: Schema.optional(Schema.Unknown) }))
)

/** The terms that earlier runs have searched, and whether they failed. */
const readDone = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const done = new Map<string, { readonly failed: boolean }>()
    if (yield* files.exists(path)) {
      yield* removeIncompleteLine(path)
      yield* Stream.runForEach(Stream.filterMap(linesOf(path), decodeDone), (term) =>
        Effect.sync(() => done.set(keyOf(term), { failed: term.error !== undefined })))
    }
    return done
  })

/** A process that was killed, or a full disk, may have left half a line at the end of the file. */
const removeIncompleteLine = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    let length = 0
    let complete = 0
    yield* Stream.runForEach(files.stream(path), (chunk) =>
      Effect.sync(() => {
        const end = chunk.lastIndexOf(10)
        if (end !== -1) complete = length + end + 1
        length += chunk.length
      }))
    if (complete < length) yield* files.truncate(path, complete)
  })

// Searches

/** "CoolingDown" is temporary too: tokens were rejected faster than the client may renew them. */
const isWorthRetrying = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  NutritionAdvisorError.isTransient(error) || (error._tag === "Forbidden" && error.reason === "CoolingDown")

/** Whether every other search would fail with this error too. */
const concernsAll = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  error.operation === "token" || error._tag === "MissingServiceId" || error._tag === "LicenseKeyUnavailable"

/** Pauses that start at half a second and double up to five seconds, until BULK_PATIENCE has passed. */
const patiently = (patience: Duration.Duration) =>
  Schedule.exponential("500 millis").pipe(
    Schedule.union(Schedule.spaced("5 seconds")),
    Schedule.jittered,
    Schedule.upTo(patience)
  )

/** The line of the output for a term: the payload, or why this term can't be searched. */
const resultOf = (term: Term, patience: Duration.Duration) =>
  NutritionAdvisor.search(term.term).pipe(
    Effect.tapErrorTag(
      "ServerError",
      ({ retryAfter = 0 }) => Effect.sleep(Duration.seconds(Math.min(retryAfter, 300)))
    ),
    Effect.retry({ schedule: patiently(patience), while: isWorthRetrying }),
    Effect.map((result) => ({ ...term, result })),
    Effect.catchAll((error) =>
      isWorthRetrying(error) || concernsAll(error)
        ? Effect.fail(new Stopped({ message: `${error.message} The job has stopped: ${again}` }))
        : Effect.succeed({ ...term, error: { _tag: error._tag, message: error.message } })
    )
  )

// Progress

interface Progress {
  total: number
  /** How many of them were searched in earlier runs. */
  before: number
  searched: number
  failed: number
}

const clearLine = "\r\u001b[K"

const timeOf = (seconds: number) => {
  const minutes = Math.floor(seconds / 60)
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.ceil(seconds)} s`
}

const progressLine = ({ before, failed, searched, total }: Progress, seconds: number) => {
  const perSecond = (searched - before) / Math.max(seconds, 0.001)
  const left = searched === before ? "unknown" : timeOf((total - searched) / perSecond)
  const counts = `${searched.toLocaleString("en")} of ${total.toLocaleString("en")} searched, ${failed} failed`
  return `${counts}, ${perSecond.toFixed(1)} per second, ${left} left`
}

const write = (text: string) => Effect.sync(() => void process.stderr.write(text))

/** Shows the progress four times a second while the job runs, and once when it ends. */
const showProgress = (progress: Progress) =>
  Effect.gen(function*() {
    if (!process.stderr.isTTY) return
    const start = performance.now()
    const show = Effect.suspend(() => write(clearLine + progressLine(progress, (performance.now() - start) / 1000)))
    yield* Effect.addFinalizer(() => Effect.zipRight(show, write("\n")))
    yield* Effect.forkScoped(Effect.repeat(show, Schedule.spaced("250 millis")))
  })

/** Log lines go to standard error, and replace the line of the progress there. */
const LogToStderr = Logger.replace(
  Logger.defaultLogger,
  Logger.map(Logger.logfmtLogger, (line) => process.stderr.write(`${process.stderr.isTTY ? clearLine : ""}${line}\n`))
)

// The job

const job = (input: string, output: string, patience: Duration.Duration) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const done = yield* readDone(output)
    const progress: Progress = { total: 0, before: 0, searched: 0, failed: 0 }
    yield* Stream.runForEach(termsOf(input), (term) =>
      Effect.sync(() => {
        const earlier = done.get(keyOf(term))
        progress.total += 1
        if (earlier === undefined) return
        progress.before += 1
        progress.searched += 1
        if (earlier.failed) progress.failed += 1
      }))
    const file = yield* files.open(output, { flag: "a" })
    yield* showProgress(progress)

    /** Once a search has ended, its line is written: only the search itself can be interrupted. */
    const searchAndWrite = (term: Term) =>
      Effect.uninterruptibleMask((interruptible) =>
        Effect.gen(function*() {
          const result = yield* interruptible(resultOf(term, patience))
          yield* file.writeAll(new TextEncoder().encode(`${JSON.stringify(result)}\n`))
          progress.searched += 1
          if ("error" in result) progress.failed += 1
        })
      )

    yield* termsOf(input).pipe(
      Stream.filter((term) => !done.has(keyOf(term))),
      Stream.mapEffect(searchAndWrite, { concurrency: workers, unordered: true }),
      Stream.runDrain
    )
  }).pipe(Effect.scoped)

const program = Effect.gen(function*() {
  const [input, output] = process.argv.slice(2)
  if (input === undefined || output === undefined) {
    return yield* new Stopped({ message: "Usage: npx tsx bulk-search.ts terms.txt foods.jsonl" })
  }
  const { patience, rate } = yield* settings
  const Advisor = Throttle.layer({
    rate: { limit: rate, interval: "1 second" },
    onTooManyRequests: "wait",
    maxWait: "1 hour"
  }).pipe(Layer.provide(NutritionAdvisor.layerConfig()), Layer.provide(FetchHttpClient.layer))

  yield* job(input, output, patience).pipe(
    Effect.provide(Advisor),
    Effect.onInterrupt(() => Console.error(`Stopped: ${again}`))
  )
})

program.pipe(
  Effect.tapError((error) => Console.error(ConfigError.isConfigError(error) ? String(error) : error.message)),
  Effect.provide(Layer.merge(NodeContext.layer, LogToStderr)),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, end) => end(Exit.isSuccess(exit) ? 0 : Cause.isInterruptedOnly(exit.cause) ? 130 : 1)
  })
)
