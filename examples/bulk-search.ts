/**
 * Many searches in bounded memory: one term a line in, one line of JSON out. A bounded queue stands between the reader and eight
 * workers, so that a slow service slows the reader down; a failed term is written as a failed line, and the others go on.
 * `npx tsx examples/bulk-search.ts terms.txt > foods.jsonl` needs `npm install @effect/platform-node@^0.108`.
 */
import { createReadStream } from "node:fs"
import { NodeRuntime, NodeSink, NodeStream } from "@effect/platform-node"
import { Console, Data, Effect, Layer, Logger, Schedule, Stream } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, Throttle } from "effect-nutrition-advisor"
import { AdvisorLive } from "./AdvisorLive.js"

const workers = 8

/** After a 429 all searches wait. The log goes to standard error. */
const Advisor = Throttle.layer({ onTooManyRequests: "wait", maxWait: "2 minutes" }).pipe(
  Layer.provide(AdvisorLive),
  Layer.provideMerge(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger)))
)

/** What may succeed later is tried again for a minute, so that the job outlives a short outage. */
const patiently = {
  schedule: Schedule.spaced("1 second").pipe(Schedule.jittered, Schedule.upTo("1 minute")),
  while: NutritionAdvisorError.isTransient
}

class NotReadable extends Data.TaggedError("NotReadable")<{ readonly message: string }> {}

const termsOf = (file: string | undefined) =>
  NodeStream.fromReadable<NotReadable, Uint8Array>(
    () => file === undefined ? process.stdin : createReadStream(file),
    () => new NotReadable({ message: `${file ?? "Standard input"} can't be read.` })
  ).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.map(([term, index]) => ({ line: index + 1, term }))
  )

const answer = (term: { readonly line: number; readonly term: string }) =>
  NutritionAdvisor.search(term.term).pipe(
    Effect.retry(patiently),
    Effect.match({
      onFailure: ({ _tag, message }) => ({ ...term, error: { _tag, message } }),
      onSuccess: (result) => ({ ...term, result })
    }),
    Effect.map((line) => `${JSON.stringify(line)}\n`)
  )

const program = termsOf(process.argv[2]).pipe(
  Stream.buffer({ capacity: 4 * workers }),
  Stream.mapEffect(answer, { concurrency: workers }),
  Stream.run(
    NodeSink.fromWritable(() => process.stdout, () => new NotReadable({ message: "Nobody reads the output." }), {
      endOnDone: false
    })
  ),
  Effect.provide(Advisor)
)

program.pipe(
  Effect.catchAll((error) => Effect.zipRight(Console.error(error.message), Effect.sync(() => process.exitCode = 1))),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
