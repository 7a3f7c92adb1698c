/** Reads a response of any HttpClient, whose body a wrapper may have read before, for example to log it. */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { BodyBytes } from "../bodyBytes.js"
import { encoder, readInterruptibly } from "../chunks.js"
import { type BufferedBody, type BufferedResponse, emptyBody, type ResponseHead } from "../messages.js"
import { isOk, statusesWithoutBody } from "../status.js"
import {
  chunksOfResponse,
  isWebResponse,
  type KeptBody,
  keptOf,
  nativeOf,
  setCookiesOf,
  statusTextOf
} from "./nativeResponse.js"
import { WholeResponse } from "./wholeResponse.js"

type PlatformResponse = HttpClientResponse.HttpClientResponse

const bytesIn = (response: PlatformResponse): Effect.Effect<Uint8Array, unknown> =>
  Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

const textBytesIn = (response: PlatformResponse): Effect.Effect<Uint8Array, unknown> =>
  Effect.map(response.text, (text) => encoder.encode(text))

const readWhole = (response: PlatformResponse): Effect.Effect<BufferedBody, unknown> =>
  Effect.map(bytesIn(response), (body) => ({ body, isWhole: true }))

/** Reads chunk by chunk, and stops at the limit. */
const readStream = ({ stream }: PlatformResponse, maxBytes: number): Effect.Effect<BufferedBody, unknown> =>
  Effect.suspend(() => {
    const bytes = new BodyBytes()
    let isWhole = true
    return Effect.map(
      Stream.runForEachWhile(stream, (chunk) => Effect.sync(() => isWhole = bytes.add(chunk, maxBytes))),
      () => ({ body: bytes.whole, isWhole })
    )
  })

/** Whether the headers show that the body fits. It is then read whole: most clients take almost twice as long to stream it. */
const fits = ({ headers }: PlatformResponse, maxBytes: number) =>
  headers["content-encoding"] === undefined && /^\d+$/.test(headers["content-length"] ?? "") &&
  Number(headers["content-length"]) <= maxBytes

const readUnread = (response: PlatformResponse, maxBytes: number): Effect.Effect<BufferedBody, unknown> => {
  const native = nativeOf(response)
  if (isWebResponse(native)) return readInterruptibly(() => chunksOfResponse(native), maxBytes)
  return fits(response, maxBytes) ? readWhole(response) : readStream(response, maxBytes)
}

/** Reads a body that a wrapper has read. If nothing is kept, it is empty or reading it fails, depending on the client. */
const readAgain = (
  response: PlatformResponse,
  kept: KeptBody,
  maxBytes: number
): Effect.Effect<BufferedBody, unknown> => {
  const cut = (body: Uint8Array) => ({ body: body.subarray(0, maxBytes), isWhole: body.length <= maxBytes })
  switch (kept) {
    case "Text":
      return Effect.map(textBytesIn(response), cut)
    case "TextOrBytes":
      return Effect.catchAll(textBytesIn(response), () => bytesIn(response)).pipe(
        Effect.map(cut),
        Effect.catchAll(() => readUnread(response, maxBytes))
      )
    case "Nothing":
      return readStream(response, maxBytes)
  }
}

const readBody = (response: PlatformResponse, maxBytes: number): Effect.Effect<BufferedBody, unknown> => {
  const { status } = response
  const native = nativeOf(response)
  // A FetchCall has applied the limit. The platform is asked for the body, so that it knows that the response has been read.
  if (native instanceof WholeResponse) return readWhole(response)
  const kept = keptOf(native)
  // A stream that is only partly read may never end.
  if (kept === "Nothing" && !isOk(status)) return Effect.succeed(emptyBody)
  return kept === undefined ? readUnread(response, maxBytes) : readAgain(response, kept, maxBytes)
}

/** The first bytes of a body in codings that some runtimes don't decode, or decode only if it is the only coding and in lower case. */
const frames: Readonly<Record<string, ReadonlyArray<number>>> = {
  "zstd": [0x28, 0xb5, 0x2f, 0xfd],
  "deflate": [0x78, 0x9c],
  "gzip": [0x1f, 0x8b],
  "x-gzip": [0x1f, 0x8b]
}

/** Whether fetch has decoded a body. The content-encoding header stays in the response either way. */
const isDecoded = (contentEncoding: string, body: Uint8Array): boolean => {
  const codings = contentEncoding.toLowerCase().split(",").map((coding) => coding.trim())
  if (!codings.every((coding) => /^(x-gzip|gzip|deflate|br|zstd)$/.test(coding))) return false
  // Every fetch decodes gzip. The decoded body may be a gzip file itself, so its first bytes prove nothing.
  if (/^(x-)?gzip$/.test(contentEncoding)) return true
  const frame = frames[codings.at(-1) ?? ""]
  return frame === undefined || !frame.every((byte, index) => body[index] === byte)
}

/** Returns what comes before the body, with each set-cookie. */
const headOf = (response: PlatformResponse): ResponseHead => {
  const { headers, status } = response
  return {
    status,
    statusText: statusTextOf(response),
    headers: headers["set-cookie"] === undefined ? headers : { ...headers, "set-cookie": setCookiesOf(response) }
  }
}

/** Leaves out content-encoding and content-length if fetch has decoded the body, because they describe the encoded one. */
const headersOfDecoded = (
  { headers, status }: ResponseHead,
  response: PlatformResponse,
  method: string,
  body: Uint8Array
): ResponseHead["headers"] => {
  const coding = response.headers["content-encoding"]
  const isCoded = coding !== undefined && method !== "HEAD" && !statusesWithoutBody.has(status)
  if (!isCoded || !isWebResponse(nativeOf(response)) || !isDecoded(coding, body)) return headers
  const { "content-encoding": _coding, "content-length": _length, ...others } = headers
  return others
}

/** Reads a response to a request with this method. `onHead` returns the limit at which its body is cut. */
export const readResponse = (
  response: PlatformResponse,
  method: string,
  onHead: (head: ResponseHead) => number
): Effect.Effect<BufferedResponse, unknown> =>
  Effect.suspend(() => {
    const head = headOf(response)
    return Effect.map(readBody(response, onHead(head)), (buffered) => ({
      ...head,
      headers: headersOfDecoded(head, response, method, buffered.body),
      ...buffered
    }))
  })
