/** Files of lines as a run meets them: read as terms, counted, gone on with where a run was cut off, written line by line. */
import { randomUUID } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { open, realpath, rename, rm, stat, truncate } from "node:fs/promises"
import { dirname } from "node:path"
import { getSystemErrorMap } from "node:util"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Data, Effect, Option, Schema, Stream } from "effect"

export class FileFailure extends Data.TaggedError("FileFailure")<{ readonly message: string }> {}

/** Who read standard output has ended. */
export class ReaderGone extends Data.TaggedError("ReaderGone") {}

export const Line = Schema.Struct({ line: Schema.Number, term: Schema.String })

const none = { line: 0, term: "", failed: 0 }

/** Whether a line of an output says that its term failed. */
export const isFailure = (text: string) => /^\{"line":\d+,"term":"(?:[^"\\]|\\.)*","error":/.test(text)

const failure = (what: string) => (cause: unknown) => {
  const { errno = 0 } = cause as NodeJS.ErrnoException
  return new FileFailure({ message: `${what}: ${getSystemErrorMap().get(errno)?.[1] ?? String(cause)}.` })
}

const attempt = <A>(what: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failure(what) })

const bytesOf = (file: string, range: { readonly start?: number; readonly end?: number } = {}) =>
  NodeStream.fromReadable<FileFailure, Uint8Array>(
    () => file === "-" ? process.stdin : createReadStream(file, range),
    failure(file === "-" ? "Standard input can't be read" : `${file} can't be read`)
  )

const lineEnd = 10

/** What is read, as long as it is UTF-8. */
const utf8 = (file: string) =>
  bytesOf(file).pipe(
    Stream.concat(Stream.succeed(new Uint8Array())), // the end, where no character may be half
    Stream.mapAccumEffect({ half: Buffer.alloc(0), line: 1, byte: 1 }, ({ byte, half, line }, chunk) => {
      const bytes = Buffer.concat([half, chunk])
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
      const again = Buffer.from(decoder.decode(bytes, { stream: chunk.length > 0 }))
      const isSame = again.equals(bytes.subarray(0, again.length))
      const good = bytes.subarray(0, isSame ? again.length : again.findIndex((value, at) => value !== bytes[at]))
      const next = {
        half: bytes.subarray(good.length),
        line: line + good.reduce((ends, value) => value === lineEnd ? ends + 1 : ends, 0),
        byte: good.includes(lineEnd) ? good.length - good.lastIndexOf(lineEnd) : byte + good.length
      }
      return isSame ? Effect.succeed([next, chunk] as const) : new FileFailure({
        message: `${file === "-" ? "Standard input" : file} is not UTF-8: line ${next.line}, byte ${next.byte}.`
      })
    })
  )

/** Cuts each line off after so many characters: a file without line ends must not fill the memory. */
const cutLongLines = (longest: number) =>
  Stream.mapAccum(0, (length, text: string) => {
    const [first = "", ...others] = text.split("\n")
    const lines = [first.slice(0, longest - length), ...others.map((line) => line.slice(0, longest))]
    return [(others.length === 0 ? length : 0) + (lines.at(-1)?.length ?? 0), lines.join("\n")]
  })

/** Lines end with "\n" alone, as they are counted. The "\r" of a file from Windows goes. */
const splitLines = <E>(text: Stream.Stream<string, E>): Stream.Stream<string, E> =>
  text.pipe(
    Stream.map(Option.some),
    Stream.concat(Stream.succeed(Option.none<string>())),
    Stream.mapAccum("", (open, part: Option.Option<string>) => {
      const lines = (open + Option.getOrElse(part, () => "")).split("\n")
      const last = lines.pop() ?? ""
      return [last, Option.isNone(part) && last !== "" ? [last] : lines] as const
    }),
    Stream.flattenIterables,
    Stream.map((line) => line.endsWith("\r") ? line.slice(0, -1) : line)
  )

/** The lines of a file, or of standard input for "-". */
export const read = (file: string, longest: number) => splitLines(cutLongLines(longest)(Stream.decodeText(utf8(file))))

const measure = <E>(content: Stream.Stream<Uint8Array, E>) =>
  Stream.runFold(content, { lines: 0, start: 0, end: 0, size: 0 }, (before, bytes) => {
    let { end, lines, start } = before
    for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) {
      lines += 1
      start = end
      end = before.size + at + 1
    }
    return { lines, start, end, size: before.size + bytes.length }
  })

const isFile = (file: string) => Effect.map(attempt(`${file} can't be read`, () => stat(file)), (info) => info.isFile())

/** How many lines a file has, where reading it twice is possible; then all of it has to be UTF-8. */
export const count = (file: string) =>
  file === "-" ? Effect.succeedNone : Effect.flatMap(isFile(file), (isFile) =>
    isFile
      ? Effect.map(measure(utf8(file)), ({ end, lines, size }) => Option.some(size > end ? lines + 1 : lines))
      : Effect.succeedNone)

/** The lines of an output. */
export const written = (file: string) => splitLines(Stream.decodeText(bytesOf(file)))

/**
 * The last whole line of an output, and how many terms failed in it, once what the abrupt end of a run left behind it is cut off. A file that no run has
 * written is not touched.
 */
export const lastWritten = (file: string | undefined, resume: boolean) =>
  Effect.gen(function*() {
    if (file === undefined) return none
    const info = yield* Effect.promise(() => stat(file).catch(() => undefined))
    if (info === undefined) {
      const folder = dirname(file)
      yield* Effect.mapError(
        attempt("", () => stat(folder)),
        () => new FileFailure({ message: `${file} can't be written: there is no folder ${folder}.` })
      )
    }
    if (info === undefined || info.size === 0) return none
    if (!resume) {
      return yield* new FileFailure({
        message: `${file} is not empty: go on with it by --resume, or name another file.`
      })
    }
    const { end, lines, size, start } = yield* measure(bytesOf(file))
    const text = yield* Stream.mkString(
      Stream.decodeText(bytesOf(file, lines === 0 ? { end: 8 } : { start, end: end - 1 }))
    )
    const last = lines === 0 && "{\"line\":1,".startsWith(text)
      ? Option.some(none)
      : Schema.decodeOption(Schema.parseJson(Line))(text)
    if (Option.isNone(last) || last.value.line !== lines) {
      return yield* new FileFailure({
        message: `${file} is not the output of an earlier run: --resume leaves it as it is.`
      })
    }
    if (size > end) yield* attempt(`${file} can't be cut off`, () => truncate(file, end))
    const failed = yield* Stream.runCount(Stream.filter(written(file), isFailure))
    return { ...last.value, failed }
  })

/** Writes to a file's end, or to standard output; the next line may come when this one is taken. */
export const writer = (file: string | undefined) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        (file === undefined ? process.stdout : createWriteStream(file, { flags: "a" })).on("error", () => {})
      ),
      (stream) => Effect.promise(() => new Promise<void>((done) => file === undefined ? done() : stream.end(done)))
    ),
    (stream) => (text: string) =>
      Effect.tryPromise({
        try: () => new Promise<void>((done, fail) => stream.write(text, (error) => error ? fail(error) : done())),
        catch: (cause) =>
          (cause as NodeJS.ErrnoException).code === "EPIPE"
            ? new ReaderGone()
            : failure(`${file ?? "Standard output"} can't be written`)(cause)
      })
  )

/** An empty file of its own beside the one that it will replace, with the same mode. */
const makeBeside = (file: string) =>
  attempt(`${file} can't be written`, async () => {
    const next = `${file}.${randomUUID()}`
    const { mode } = await stat(file)
    const handle = await open(next, "wx", 0o600)
    await handle.chmod(mode).finally(() => handle.close())
    return next
  })

/** Writes a file anew, the one that a link leads to. Until all is written it stays as it was. */
export const replace = <E, R>(file: string, lines: Stream.Stream<string, E, R>) =>
  Effect.gen(function*() {
    const target = yield* attempt(`${file} can't be written`, () => realpath(file))
    const next = yield* Effect.acquireRelease(
      makeBeside(target),
      (next) => Effect.promise(() => rm(next, { force: true }))
    )
    yield* Effect.scoped(Effect.flatMap(writer(next), (write) => Stream.runForEach(lines, write)))
    yield* attempt(`${file} can't be written`, () => rename(next, target))
  }).pipe(Effect.scoped)
