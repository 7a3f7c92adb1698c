import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Stream from "effect/Stream"
import * as Server from "./server.js"

/** Characters. What a longer line has beyond them is dropped, so that it is no JSON any more. */
const longestLine = 8 * 1024 * 1024

const cutLongLines = Stream.mapAccum(0, (length: number, text: string) => {
  const [first = "", ...others] = text.split("\n")
  const lines = [first.slice(0, longestLine - length), ...others.map((line) => line.slice(0, longestLine))]
  return [(others.length === 0 ? length : 0) + (lines.at(-1)?.length ?? 0), lines.join("\n")]
})

/** Ends with standard input, however that ends. */
const lines = Stream.fromReadableStream<Uint8Array, null>(() => Readable.toWeb(process.stdin), () => null).pipe(
  Stream.catchAll(() => Stream.empty),
  Stream.decodeText(),
  cutLongLines,
  Stream.splitLines,
  Stream.filter((line) => line.trim() !== "")
)

const write = (text: string) =>
  Effect.async((resume: (written: Effect.Effect<void>) => void) => {
    process.stdout.write(`${text}\n`, () => resume(Effect.void))
  })

/** Where nobody reads standard output any more, nobody is there to ask. */
const endWithOutput = Effect.acquireRelease(
  Effect.sync(() => {
    const end = () => void process.stdin.destroy()
    process.stdout.on("error", end)
    return end
  }),
  (end) => Effect.sync(() => process.stdout.off("error", end))
)

/** So many answers are written while more is read; with more, reading waits. */
const mostUnwritten = 2 * Server.mostWaiting

/** What was asked before standard input ended has so long to be answered. */
const lastAnswers = "1 second"

/** Answers standard input, a message a line, until it ends, or standard output does. */
export const serve = (server: Server.Server): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* endWithOutput
    const unwritten = yield* FiberSet.make()
    const session = { name: "", isTextOnly: false }
    yield* Stream.runForEach(lines, (line) =>
      Effect.gen(function*() {
        const answer = yield* server.begin(line, session)
        const written = Effect.flatMap(answer, (text) => text === undefined ? Effect.void : write(text))
        yield* (yield* FiberSet.size(unwritten)) < mostUnwritten ? FiberSet.run(unwritten, written) : written
      }))
    yield* Effect.timeoutOption(FiberSet.awaitEmpty(unwritten), lastAnswers)
  }).pipe(Effect.scoped)
