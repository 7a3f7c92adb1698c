/**
 * Reads native responses, for what an HttpClientResponse doesn't expose: each set-cookie, the reason phrase, the body. They may be of any
 * class, and nothing is written to them.
 */
import * as Cookies from "@effect/platform/Cookies"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import { hasMethod } from "../../runtime/hasMethod.js"
import { type AnyStream, bytesOf, type Chunks, chunksOf, isStream } from "../chunks.js"
import type { BufferedResponse } from "../messages.js"

type PlatformResponse = HttpClientResponse.HttpClientResponse

/** Returns the native response: a web Response, or a response of Node or undici. */
export const nativeOf = (response: unknown): unknown => {
  if (Predicate.hasProperty(response, "original")) return nativeOf(response.original)
  return Predicate.hasProperty(response, "source") ? response.source : undefined
}

const propertyOf = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

/** Whether an object is a web Response of any class. Only its headers have an iterator. */
export const isWebResponse = (native: unknown): native is Response =>
  hasMethod(propertyOf(native, "headers"), Symbol.iterator)

/** Whether a wrapper has read the body of fetch or undici. The platform keeps what it has read as text or bytes. */
export const isBodyUsed = (native: unknown): boolean =>
  (propertyOf(native, "bodyUsed") ?? propertyOf(propertyOf(native, "body"), "bodyUsed")) === true

/** Whether a wrapper has read the body of node:http as text, which the platform keeps. It sets the encoding of the stream for that. */
export const wasReadAsText = (native: unknown): boolean => Predicate.isString(propertyOf(native, "readableEncoding"))

/** Returns the stream of a body of node:http, which is the response itself, or of undici. */
export const streamOf = (native: unknown): AnyStream | undefined => [native, propertyOf(native, "body")].find(isStream)

const strings = (values: unknown): Array<string> => [values].flat().filter(Predicate.isString)

/** Returns each `set-cookie`. node-fetch returns them from `raw()`, and Node and undici keep them in an array. */
const cookiesIn = (headers: unknown): Array<string> => {
  if (hasMethod(headers, "getSetCookie")) return strings(headers.getSetCookie())
  if (hasMethod(headers, "raw")) return strings(propertyOf(headers.raw(), "set-cookie"))
  return strings(hasMethod(headers, "get") ? headers.get("set-cookie") : propertyOf(headers, "set-cookie"))
}

/** Falls back to the platform's `cookies`, which keeps only the last cookie of each name. */
export const setCookiesOf = (response: PlatformResponse): Array<string> => {
  const cookies = cookiesIn(propertyOf(nativeOf(response), "headers"))
  return cookies.length > 0 ? cookies : Cookies.toSetCookieHeaders(response.cookies)
}

/** Returns the reason phrase, which Node calls statusMessage. */
export const statusTextOf = (response: PlatformResponse): string => {
  const native = nativeOf(response)
  return strings(propertyOf(native, "statusText") ?? propertyOf(native, "statusMessage")).join("")
}

export const urlOf = (response: PlatformResponse): string => strings(propertyOf(nativeOf(response), "url")).join("")

/** Creates the error for a fetch that can't be used. `errors/transportCodes` contains the advice for its code. */
export const fetchError = (code: "ERR_NO_FETCH" | "ERR_FETCH_RESPONSE", cause?: unknown): Error =>
  Object.assign(new Error(code, { cause }), { code })

const unreadableResponse = (cause?: unknown): Error => fetchError("ERR_FETCH_RESPONSE", cause)

/** Returns a part of a response. It may throw, because a mock may lack any part of a Response. */
const partOf = <A>(response: Response, part: (response: Response) => A): A => {
  try {
    return part(response)
  } catch (cause) {
    throw unreadableResponse(cause)
  }
}

export const recordOf = (headers: Headers): BufferedResponse["headers"] => {
  const record: Record<string, string | Array<string>> = {}
  for (const [anyCaseName, value] of headers) {
    const name = anyCaseName.toLowerCase()
    record[name] = name === "set-cookie" ? cookiesIn(headers) : value
  }
  return record
}

/** Returns what a fetch has received before the body. */
export const headOfResponse = (response: Response) =>
  partOf(response, ({ headers, status, statusText }) => {
    if (typeof status !== "number") throw unreadableResponse()
    return { status, statusText, headers: recordOf(headers) }
  })

/** The only chunk of a body that has no stream, as in a mock or with status 204. */
async function* onlyChunk(response: Response) {
  const bytes = hasMethod(response, "arrayBuffer") ? bytesOf(await response.arrayBuffer()) : undefined
  if (bytes === undefined) throw unreadableResponse()
  yield bytes
}

/** Opens the body of a web Response. */
export const chunksOfResponse = (response: Response): Chunks =>
  partOf(response, ({ body }) => isStream(body) ? chunksOf(body) : undefined) ?? chunksOf(onlyChunk(response))
