/**
 * Searches for many terms with any number of workers: `npx tsx examples/bulk-queue/run.ts terms.txt --output foods.jsonl`
 * gives the terms of a file to a queue, the workers (work.ts) search, and this writes each answer once, in the order of the file.
 * Needs a Redis, and `npm install @effect/platform-node@^0.108 bullmq@6.7.0 ioredis@^5 cli-progress@^3.12`.
 */
import { createHash } from "node:crypto"
import { parseArgs } from "node:util"
import { Runtime } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { type Job, Queue, QueueEvents } from "bullmq"
import { Console, Effect, Exit, Logger, Option, Stream } from "effect"
import { after, longestTerm, Usage } from "../BulkSearch.js"
import * as LineFile from "../LineFile.js"
import * as Progress from "../Progress.js"
import * as TermQueue from "./TermQueue.js"

const help = `Usage: run FILE --output FILE [--resume] [--rate N] [--queue NAME]

Gives the terms of a file (UTF-8, one a line) to the workers of a queue, and writes a line for each, in their order:
  {"line":1,"term":"oats","result":…}
  {"line":2,"term":"","error":{"_tag":"BadRequest","message":…}}

  --output FILE  where to write
  --resume       go on after the last whole line of the output, with the same input
  --rate N       searches a second of all workers together, 1 to 10000; 50 by default
  --queue NAME   ${TermQueue.defaultName} by default; one run at a time for each

Needs a Redis, and npm install @effect/platform-node@^0.108 bullmq@6.7.0 ioredis@^5 cli-progress@^3.12
NUTRITION_ADVISOR_REDIS_URL names the Redis. Start the workers before or after it: work.ts, as many as you like.
Ends with 0 when each term has its line, with 1 and a sentence when the run can't go on, with 130 when it was interrupted.`

const usage = (message: string) => new Usage({ message })

const commandLine = Effect.try({
  try: () =>
    parseArgs({
      allowPositionals: true,
      options: {
        output: { type: "string" },
        resume: { type: "boolean", default: false },
        rate: { type: "string", default: "50" },
        queue: { type: "string", default: TermQueue.defaultName },
        help: { type: "boolean", default: false }
      }
    }),
  catch: () => usage("The options are --output FILE, --resume, --rate N, --queue NAME and --help.")
}).pipe(
  Effect.flatMap(({ positionals: [file, ...others], values: { help, output, queue, rate, resume } }) =>
    help
      ? Effect.succeedNone
      : file === undefined || others.length > 0 || output === undefined
      ? usage("Name one file of terms, and --output FILE.")
      : !/^([1-9]\d{0,3}|10000)$/.test(rate)
      ? usage("--rate must be a whole number from 1 to 10000.")
      : !TermQueue.isName(queue)
      ? usage("--queue must be a name of letters, digits, dots and dashes.")
      : Effect.succeedSome({ file, output, queue, rate: Number(rate), resume })
  )
)

/** How many terms are in the queue at once, with their results: what Redis has to hold. */
const ahead = 1_000

/** A notice that got lost is made up for after this many milliseconds. */
const patience = 10_000

/** The same term in the same line is the same job, so a run that goes on finds what the workers did meanwhile. */
const idOf = ({ line, term }: TermQueue.Term) =>
  `${line}-${createHash("sha256").update(term).digest("hex").slice(0, 16)}`

const lineOf = (term: TermQueue.Term, outcome: TermQueue.Outcome) => ({
  text: `${JSON.stringify({ ...term, ...outcome })}\n`,
  failed: "error" in outcome
})

type TermsQueue = Queue<TermQueue.Term, TermQueue.Outcome>

const lost = { error: { _tag: "Lost", message: "No worker could answer for this term." } }

const outcomeOf = async (job: TermQueue.TermJob, events: QueueEvents): Promise<TermQueue.Outcome> => {
  for (;;) {
    try {
      return await job.waitUntilFinished(events, patience)
    } catch (error) {
      const state = await job.getState()
      if (state === "unknown") throw error
      if (state === "failed") return lost
    }
  }
}

const tooLong = { error: { _tag: "BadRequest", message: `The line is longer than ${longestTerm} characters.` } }

interface Answered {
  readonly job: Job | undefined
  readonly text: string
  readonly failed: boolean
}

const answer = (queue: TermsQueue, events: QueueEvents) => (term: TermQueue.Term) =>
  term.term.length > longestTerm
    ? Effect.succeed<Answered>({ job: undefined, ...lineOf(term, tooLong) })
    : TermQueue.attempt("The queue can't be used", async (): Promise<Answered> => {
      const job: TermQueue.TermJob = await queue.add("search", term, { jobId: idOf(term) })
      return { job, ...lineOf(term, await outcomeOf(job, events)) }
    })

const requireOwnQueue = (queue: TermsQueue, resume: boolean) =>
  Effect.flatMap(
    TermQueue.attempt("The queue can't be read", () => queue.getJobCountByTypes()),
    (count) =>
      count === 0 || resume ? Effect.void : usage(
        `The queue ${queue.name} has terms of another run: go on with that one by --resume, or name another queue.`
      )
  )

const workersOf = (queue: TermsQueue) =>
  Effect.tryPromise(() => queue.getWorkersCount()).pipe(
    Effect.map((count) => `${count} worker${count === 1 ? "" : "s"}`),
    Effect.orElseSucceed(() => "")
  )

const interrupted = (output: string) =>
  Console.error(`Interrupted. The same input with --output ${output} --resume goes on after the last line written.`)

interface Settings {
  readonly file: string
  readonly output: string
  readonly queue: string
  readonly rate: number
  readonly resume: boolean
}

const answerAll = ({ file, output, queue: name, rate, resume }: Settings) =>
  Effect.gen(function*() {
    const total = yield* LineFile.count(file)
    const connection = yield* TermQueue.connection
    const queue = yield* TermQueue.scoped((): TermsQueue => new Queue(name, { connection }))
    const events = yield* TermQueue.scoped(() => new QueueEvents(name, { connection }))
    yield* requireOwnQueue(queue, resume)
    const last = yield* LineFile.lastWritten(output, resume)
    const write = yield* LineFile.writer(output)
    yield* TermQueue.attempt("The rate can't be set", () => queue.setGlobalRateLimit(rate, 1_000))
    const progress = yield* Progress.make({
      total,
      alreadyDone: last.line,
      alreadyFailed: last.failed,
      sharesTerminal: false,
      also: workersOf(queue)
    })
    yield* LineFile.read(file, longestTerm + 1).pipe(
      Stream.zipWithIndex,
      Stream.map(([term, index]) => ({ line: index + 1, term })),
      after(last),
      Stream.mapEffect(answer(queue, events), { concurrency: ahead }),
      Stream.runForEach(({ failed, job, text }) =>
        write(text).pipe(
          Effect.zipRight(progress.add(failed)),
          Effect.zipRight(TermQueue.attempt("The queue can't be used", async () => job?.remove())),
          Effect.uninterruptible
        )
      )
    )
    yield* TermQueue.attempt("The queue can't be emptied", () => queue.obliterate({ force: true }))
  }).pipe(Effect.scoped)

const run = Effect.gen(function*() {
  const settings = yield* commandLine
  if (Option.isNone(settings)) return yield* Console.log(help)
  yield* Effect.onInterrupt(answerAll(settings.value), () => interrupted(settings.value.output))
})

run.pipe(
  Effect.catchAll(({ message }) =>
    Effect.zipRight(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    teardown: (exit, end) => Exit.isInterrupted(exit) ? end(130) : Runtime.defaultTeardown(exit, end)
  })
)
