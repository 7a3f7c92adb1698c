/** Reads the bodies of fetch, of Node and of packages such as undici or node-fetch. */
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { hasMethod } from "../runtime/hasMethod.js"
import { BodyBytes } from "./bodyBytes.js"
import type { BufferedBody } from "./messages.js"

/** Returns the class name of a value, such as "Blob" or "FormData". It is the same in every realm. */
export const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1)

const isArrayBuffer = (value: unknown): value is ArrayBuffer => classOf(value) === "ArrayBuffer"

export const encoder = new TextEncoder()

/** Returns the bytes of a string, an ArrayBuffer or a view of one. */
export const bytesOf = (value: unknown): Uint8Array | undefined => {
  if (typeof value === "string") return encoder.encode(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return isArrayBuffer(value) ? new Uint8Array(value) : undefined
}

export const notBytes = () => new TypeError("a chunk of the body is neither bytes nor a string")

/** The chunks of a body, from the reader of a web stream or from an async iterator. */
export interface Chunks {
  readonly next: () => Promise<IteratorResult<unknown, unknown>>
  /** Ends the body early. A pending `next` may stay pending. */
  readonly cancel: () => void
}

interface Reader {
  readonly read: Chunks["next"]
  readonly cancel: () => Promise<void>
}

const ignoringErrors = (cancel: () => unknown) => () => {
  const canceled = async () => cancel()
  canceled().catch(constVoid)
}

interface WebStream {
  readonly getReader: () => unknown
}

/** Opens a web stream from any realm or package. */
export const chunksOfWebStream = (stream: WebStream): Chunks => {
  const reader = stream.getReader() as Reader
  return { next: () => reader.read(), cancel: ignoringErrors(() => reader.cancel()) }
}

/** Whether a Node stream has been read, at least in part. Such a body is rejected, as in fetch, because only its rest could be read. */
export const wasRead = (body: unknown): boolean =>
  Predicate.hasProperty(body, "readableDidRead") && body.readableDidRead === true

export const alreadyRead = () => new TypeError("the body has already been read")

/** Opens a Node stream or any other async iterable. */
export const chunksOfIterable = (body: AsyncIterable<unknown>): Chunks => {
  if (wasRead(body)) throw alreadyRead()
  const iterator = body[Symbol.asyncIterator]()
  return {
    next: () => iterator.next(),
    // The iterator of a Node stream would first wait for the pending chunk.
    cancel: ignoringErrors(() => hasMethod(body, "destroy") ? body.destroy() : iterator.return?.())
  }
}

export const isAsyncIterable = (body: unknown): body is AsyncIterable<unknown> => hasMethod(body, Symbol.asyncIterator)

export type AnyStream = WebStream | AsyncIterable<unknown>

/** Whether a body is a web stream, a Node stream or any other async iterable. */
export const isStream = (body: unknown): body is AnyStream => hasMethod(body, "getReader") || isAsyncIterable(body)

export const chunksOf = (stream: AnyStream): Chunks =>
  "getReader" in stream ? chunksOfWebStream(stream) : chunksOfIterable(stream)

/** Reads chunk by chunk. At the limit, it stops and cancels the rest. */
export const readChunks = async (chunks: Chunks, maxBytes: number): Promise<BufferedBody> => {
  const bytes = new BodyBytes()
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    const chunk = bytesOf(next.value)
    if (chunk !== undefined && bytes.add(chunk, maxBytes)) continue
    chunks.cancel()
    if (chunk === undefined) throw notBytes()
    return { body: bytes.whole, isWhole: false }
  }
  return { body: bytes.whole, isWhole: true }
}

/** Opens a body and reads it. Fails with what either of them throws. On interruption, the body is canceled. */
export const readInterruptibly = (open: () => Chunks, maxBytes: number): Effect.Effect<BufferedBody, unknown> =>
  Effect.tryPromise({
    try: async (signal) => {
      const chunks = open()
      signal.addEventListener("abort", chunks.cancel)
      return readChunks(chunks, maxBytes)
    },
    catch: (thrown) => thrown
  })
