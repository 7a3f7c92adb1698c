/** One search a line: terms in, JSON Lines out, in the order of the input and in bounded memory. */
import { parseArgs } from "node:util"
import * as Runtime from "@effect/platform/Runtime"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ConfigError, Console, Data, Duration, Effect, Exit, Logger, Option, Schedule, Schema, Stream } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, TokenProvider } from "effect-nutrition-advisor"
import { AdvisorLive } from "./AdvisorLive.js"
import * as LineFile from "./LineFile.js"
import * as Progress from "./Progress.js"
import { settingsSentence } from "./settingsSentence.js"

const help = `Usage: bulk-search [FILE] [--concurrency N] [--output FILE [--resume] [--retry-failed]]

Searches for the terms in FILE, or on standard input: UTF-8, one a line.
Writes a line for each line of the input, in its order, one of
  {"line":1,"term":"oats","result":…}
  {"line":2,"term":"","error":{"_tag":"BadRequest","message":…}}
A blank line is a failed term too, so that line numbers stay those of the input.

  --concurrency N  searches at once, 1 to 1000; 16 by default
  --output FILE    where to write; standard output by default
  --resume         go on after the last whole line of the output, with the same input from its start
  --retry-failed   search once more for the terms that failed in the output, then go on as --resume does
  --help           this text

Needs npm install @effect/platform-node@^0.108 cli-progress@^3.12
NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY name the service; the embedded simulator answers without them.
Ends with 0 when each term has its line, with 1 and a sentence when the run can't go on, with 130 when it was interrupted.`

export class Usage extends Data.TaggedError("Usage")<{ readonly message: string }> {}

const options = {
  concurrency: { type: "string", default: "16" },
  output: { type: "string" },
  resume: { type: "boolean", default: false },
  "retry-failed": { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

const commandLine = Effect.try({
  try: () => parseArgs({ allowPositionals: true, options }),
  catch: () =>
    new Usage({ message: "The options are --concurrency N, --output FILE, --resume, --retry-failed and --help." })
}).pipe(
  Effect.flatMap((
    { positionals: [file = "-", ...others], values: { concurrency, help, output, resume, "retry-failed": retry } }
  ) =>
    others.length > 0
      ? new Usage({ message: "Name one file of terms, or none to read standard input." })
      : !/^([1-9]\d{0,2}|1000)$/.test(concurrency)
      ? new Usage({ message: "--concurrency must be a whole number from 1 to 1000." })
      : (resume || retry) && output === undefined
      ? new Usage({
        message: `${retry ? "--retry-failed" : "--resume"} needs --output FILE: it goes on with what is in that file.`
      })
      : Effect.succeed({ concurrency: Number(concurrency), file, help, output, resume: resume || retry, retry })
  )
)

export const longestTerm = 10_000

const longestWait = Duration.minutes(1)

/** Seconds that the service asked to wait. */
const retryAfter = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  Duration.seconds("retryAfter" in error ? error.retryAfter ?? 0 : 0)

const waits = Schedule.identity<NutritionAdvisorError.NutritionAdvisorError>().pipe(
  Schedule.addDelay(retryAfter),
  Schedule.intersect(Schedule.jittered(Schedule.exponential("1 second")))
)

const isWorthARetry = (error: NutritionAdvisorError.NutritionAdvisorError) =>
  NutritionAdvisorError.isTransient(error) && Duration.lessThanOrEqualTo(retryAfter(error), longestWait)

type Outcome = { readonly result: unknown } | { readonly error: { readonly _tag: string; readonly message: string } }

const search = (term: string): Effect.Effect<Outcome, never, NutritionAdvisor.NutritionAdvisor> =>
  term.length > longestTerm
    ? Effect.succeed({ error: { _tag: "BadRequest", message: `The line is longer than ${longestTerm} characters.` } })
    : NutritionAdvisor.search(term).pipe(
      Effect.retry({ schedule: waits, times: 2, while: isWorthARetry }),
      Effect.match({
        onFailure: ({ _tag, message }) => ({ error: { _tag, message } }),
        onSuccess: (result) => ({ result })
      })
    )

type Term = typeof LineFile.Line.Type

const lineOf = (term: Term, outcome: Outcome) => ({
  text: `${JSON.stringify({ ...term, ...outcome })}\n`,
  failed: "error" in outcome
})

const nestedTooDeep = {
  _tag: "UnexpectedResponse",
  message: "The search was answered with JSON nested too deep to write."
}

const answer = (term: Term) =>
  Effect.flatMap(
    search(term.term),
    (outcome) =>
      Effect.orElseSucceed(Effect.try(() => lineOf(term, outcome)), () => lineOf(term, { error: nestedTooDeep }))
  )

const otherInput = new Usage({
  message: "The output goes on from another input: its last line is not about the term there."
})

/** The terms after the last one that is written, which has to be in the same line of the input. */
export const after = (last: Term) => <E, R>(terms: Stream.Stream<Term, E, R>): Stream.Stream<Term, E | Usage, R> =>
  last.line === 0 ? terms : terms.pipe(
    Stream.drop(last.line - 1),
    Stream.orElseIfEmptyStream(() => Stream.fail(otherInput)),
    Stream.filterEffect(({ line, term }) =>
      line === last.line && term !== last.term ? Effect.fail(otherInput) : Effect.succeed(line > last.line)
    )
  )

/** Each line of an output as it is, or with a new answer in the place of one that failed. */
const answeredAgain = (output: string, concurrency: number, progress: Progress.Progress) =>
  Stream.mapEffect(
    LineFile.written(output),
    (text) =>
      LineFile.isFailure(text)
        ? Schema.decode(Schema.parseJson(LineFile.Line))(text).pipe(
          Effect.flatMap(answer),
          Effect.tap(({ failed }) => progress.add(failed)),
          Effect.map(({ text }) => text)
        )
        : Effect.succeed(`${text}\n`),
    { concurrency }
  )

const retryFailed = (output: string, failed: number, concurrency: number) =>
  Effect.gen(function*() {
    const settings = { total: Option.some(failed), alreadyDone: 0, alreadyFailed: 0, sharesTerminal: false }
    const progress = yield* Progress.make(settings)
    yield* LineFile.replace(output, answeredAgain(output, concurrency, progress))
  }).pipe(Effect.scoped)

const interrupted = (output: string | undefined) =>
  Console.error(
    output === undefined
      ? "Interrupted. A run with --output FILE can go on later, by --resume."
      : `Interrupted. The same input with --output ${output} --resume goes on after the last line written.`
  )

const bulkSearch = Effect.gen(function*() {
  const { concurrency, file, help: wantsHelp, output, resume, retry } = yield* commandLine
  if (wantsHelp) return yield* Console.log(help)
  const total = yield* LineFile.count(file)
  const before = yield* LineFile.lastWritten(output, resume)
  yield* Effect.gen(function*() {
    // Where no token can be had, each term would fail alike.
    yield* Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
    if (output !== undefined && retry && before.failed > 0) yield* retryFailed(output, before.failed, concurrency)
    const last = yield* LineFile.lastWritten(output, resume)
    const write = yield* LineFile.writer(output)
    const progress = yield* Progress.make({
      total,
      alreadyDone: last.line,
      alreadyFailed: last.failed,
      sharesTerminal: output === undefined && process.stdout.isTTY
    })
    yield* LineFile.read(file, longestTerm + 1).pipe(
      Stream.zipWithIndex,
      Stream.map(([term, index]) => ({ line: index + 1, term })),
      after(last),
      Stream.mapEffect(answer, { concurrency }),
      Stream.runForEach(({ failed, text }) =>
        progress.makeRoom.pipe(
          Effect.zipRight(write(text)),
          Effect.zipRight(progress.add(failed)),
          Effect.uninterruptible
        )
      )
    )
  }).pipe(Effect.scoped, Effect.provide(AdvisorLive), Effect.onInterrupt(() => interrupted(output)))
})

const endWith = (code: number) =>
  Effect.sync(() => {
    process.exitCode = code
  })

export const run = () =>
  bulkSearch.pipe(
    Effect.catchTag("ReaderGone", () => endWith(141)),
    Effect.catchAll((error) =>
      Effect.zipRight(
        Console.error(ConfigError.isConfigError(error) ? settingsSentence(error) : error.message),
        endWith(1)
      )
    ),
    Effect.provide(Logger.remove(Logger.defaultLogger)),
    NodeRuntime.runMain({
      disablePrettyLogger: true,
      teardown: (exit, end) => Exit.isInterrupted(exit) ? end(130) : Runtime.defaultTeardown(exit, end)
    })
  )
