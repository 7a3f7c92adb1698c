/**
 * Reads the native response behind an HttpClientResponse, for what the platform doesn't expose: each set-cookie, the reason phrase, the
 * body. It never writes to it.
 */
import * as Cookies from "@effect/platform/Cookies"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import { hasMethod } from "../../runtime/hasMethod.js"
import { wasRead } from "../chunks.js"

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

/** What the platform may have kept of a body that a wrapper has read. */
export type KeptBody = "TextOrBytes" | "Text" | "Nothing"

/**
 * Returns what is kept of a body, or undefined if it has not been read. Responses of fetch and undici keep their text and their bytes. A
 * response of node:http keeps only its text, for which it sets its encoding.
 */
export const keptOf = (native: unknown): KeptBody | undefined => {
  const isUsed = propertyOf(native, "bodyUsed") ?? propertyOf(propertyOf(native, "body"), "bodyUsed")
  if (isUsed === true) return "TextOrBytes"
  if (Predicate.isString(propertyOf(native, "readableEncoding"))) return "Text"
  return wasRead(native) ? "Nothing" : undefined
}

const strings = (values: unknown): Array<string> => [values].flat().filter(Predicate.isString)

/** Returns each `set-cookie`. node-fetch returns them from `raw()`, and Node and undici keep them in an array. */
export const cookiesIn = (headers: unknown): Array<string> => {
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
