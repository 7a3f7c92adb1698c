/** Turns a body into the bytes that fetch would send. Any client can send them, with their length, and again after a renewal. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { hasMethod } from "../runtime/hasMethod.js"
import {
  alreadyRead,
  bytesOf,
  chunksOfIterable,
  chunksOfWebStream,
  classOf,
  encoder,
  isAsyncIterable,
  notBytes,
  readInterruptibly,
  wasRead
} from "./chunks.js"
import type { Sendable } from "./messages.js"

interface Upload {
  readonly bytes: Uint8Array
  readonly contentType: string | undefined
}

export const fromString = (text: string, contentType = "text/plain;charset=UTF-8"): Upload => ({
  bytes: encoder.encode(text),
  contentType
})

/** Returns undefined if the content has to be read first. */
export const fromMemory = (content: unknown): Upload | undefined => {
  if (classOf(content) === "URLSearchParams") {
    return fromString(String(content), "application/x-www-form-urlencoded;charset=UTF-8")
  }
  if (typeof content === "string") return fromString(content)
  const bytes = bytesOf(content)
  return bytes && { bytes, contentType: undefined }
}

type AnyBlob = Pick<Blob, "arrayBuffer" | "type"> & { readonly name?: unknown }

/** Whether a body is a Blob or File of any class, such as one from node:buffer or from a package. */
export const isBlob = (content: unknown): content is AnyBlob =>
  /^(Blob|File)$/.test(classOf(content)) && hasMethod(content, "arrayBuffer")

type FormEntries = Iterable<readonly [string, unknown]>

export const isForm = (content: unknown): content is FormEntries =>
  classOf(content) === "FormData" && hasMethod(content, Symbol.iterator)

/** Returns the entries as a form. A FormData of the runtime could not contain the Blob of a package. */
const copyOfForm = (form: FormEntries): FormEntries =>
  Object.assign(Array.from(form), { [Symbol.toStringTag]: "FormData" })

/** Copies a body in memory. A Blob can't change, and a stream is returned as it is. */
export const copyOfBody = (content: unknown): unknown => {
  if (typeof content === "string") return content
  if (isForm(content)) return copyOfForm(content)
  return classOf(content) === "URLSearchParams"
    ? new URLSearchParams(String(content))
    : bytesOf(content)?.slice() ?? content
}

const fromBlob = async (blob: AnyBlob): Promise<Upload> => ({
  bytes: new Uint8Array(await blob.arrayBuffer()),
  contentType: blob.type === "" ? undefined : blob.type
})

/** The form is copied first, because Response doesn't recognize a FormData or a Blob from a package. */
const fromForm = async (entries: FormEntries): Promise<Upload> => {
  const form = new FormData()
  for (const [name, value] of entries) {
    if (isBlob(value)) {
      const file = new Blob([await value.arrayBuffer()], { type: value.type })
      form.append(name, file, typeof value.name === "string" ? value.name : "blob")
    } else form.append(name, String(value))
  }
  const encoded = new Response(form)
  // Bun omits the content type once the body has been read.
  const contentType = encoded.headers.get("content-type") ?? undefined
  return { bytes: new Uint8Array(await encoded.arrayBuffer()), contentType }
}

const tryRead = (read: () => Promise<Upload>) => Effect.tryPromise({ try: read, catch: (thrown) => thrown })

/** The iterator of a Node stream waits for the pending chunk before it returns, so a stream that stalls would never be destroyed. */
const cancelable = (body: AsyncIterable<unknown>): AsyncIterable<unknown> => ({
  [Symbol.asyncIterator]: () => {
    const { cancel, next } = chunksOfIterable(body)
    return {
      next,
      return: async () => {
        cancel()
        return { done: true, value: undefined }
      }
    }
  }
})

/** A Node stream or any other async iterable is streamed, because it may not fit into memory. */
const streamOf = (content: unknown): Stream.Stream<Uint8Array, unknown> | undefined => {
  if (!isAsyncIterable(content)) return undefined
  if (wasRead(content)) return Stream.fail(alreadyRead())
  return Stream.mapEffect(Stream.fromAsyncIterable(cancelable(content), (thrown) => thrown), (chunk) => {
    const bytes = bytesOf(chunk)
    return bytes === undefined ? Effect.fail(notBytes()) : Effect.succeed(bytes)
  })
}

/** Reads a form, a Blob or a web stream into memory. Fails with what the source throws. */
const readIntoMemory = (content: unknown): Effect.Effect<Upload, unknown> | undefined => {
  if (isBlob(content)) return tryRead(() => fromBlob(content))
  if (isForm(content)) return tryRead(() => fromForm(content))
  if (!hasMethod(content, "getReader")) return undefined
  const reading = readInterruptibly(() => chunksOfWebStream(content), Number.POSITIVE_INFINITY)
  return Effect.map(reading, ({ body }) => ({ bytes: body, contentType: undefined }))
}

/** Returns a body that every client can send. If it has to be read into memory, `wrap` maps the error, and can add a timeout. */
export const toSendable = <E>(
  body: HttpBody.HttpBody,
  wrap: (reading: Effect.Effect<Upload, unknown>) => Effect.Effect<Upload, E>
): Effect.Effect<Sendable, E> => {
  if (body._tag !== "FormData" && body._tag !== "Raw") return Effect.succeed(body)
  const content = body._tag === "FormData" ? body.formData : body.body
  const toRaw = ({ bytes, contentType: usual }: Upload) =>
    HttpBody.raw(bytes, { contentType: body.contentType ?? usual })
  const upload = fromMemory(content)
  if (upload !== undefined) return Effect.succeed(toRaw(upload))
  const reading = readIntoMemory(content)
  if (reading !== undefined) return Effect.map(wrap(reading), toRaw)
  const stream = streamOf(content)
  return Effect.succeed(stream ? HttpBody.stream(stream, body.contentType) : HttpBody.raw(content, body))
}
