/** Reads a response of any HttpClient, whose body a wrapper may have read before, for example to log it. */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import { chunksOf, encoder, readInterruptibly } from "../chunks.js"
import type { BufferedBody, BufferedResponse, ResponseHead } from "../messages.js"
import { statusesWithoutBody } from "../status.js"
import {
  chunksOfResponse,
  isBodyUsed,
  isWebResponse,
  nativeOf,
  setCookiesOf,
  statusTextOf,
  streamOf,
  wasReadAsText
} from "./nativeResponse.js"
import { WholeResponse } from "./wholeResponse.js"

type PlatformResponse = HttpClientResponse.HttpClientResponse

/** Reads a body, but not through the platform's stream, which takes several times as long. */
const readBody = (response: PlatformResponse, maxBytes: number): Effect.Effect<BufferedBody, unknown> => {
  const native = nativeOf(response)
  const cut = (body: Uint8Array) => ({ body: body.subarray(0, maxBytes), isWhole: body.length <= maxBytes })
  const readWhole = () => Effect.map(response.arrayBuffer, (buffer) => cut(new Uint8Array(buffer)))
  const readText = () => Effect.map(response.text, (text) => cut(encoder.encode(text)))
  // A FetchCall has applied the limit. The platform is asked for the body, so that it knows that the response has been read.
  if (native instanceof WholeResponse) return readWhole()
  if (wasReadAsText(native)) return readText()
  if (isBodyUsed(native)) return Effect.catchAll(readText(), (error) => Effect.mapError(readWhole(), () => error))
  if (isWebResponse(native)) return readInterruptibly(() => chunksOfResponse(native), maxBytes)
  const stream = streamOf(native)
  return stream === undefined ? readWhole() : readInterruptibly(() => chunksOf(stream), maxBytes)
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
