/**
 * What a client made its response of. The platform has no other way to each `set-cookie`, to the reason phrase, and to the body of a
 * fetch that is not the process's own; its fields are read and never written.
 */
import * as Cookies from "@effect/platform/Cookies"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import { hasMethod } from "./webBody.js"

type PlatformResponse = HttpClientResponse.HttpClientResponse

/** A web Response, or one of Node or undici. */
export const sourceOf = (response: unknown): unknown => {
  if (Predicate.hasProperty(response, "original")) return sourceOf(response.original)
  return Predicate.hasProperty(response, "source") ? response.source : undefined
}

const propertyOf = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

/** A web Response, of whatever class, reads its headers by name. */
export const isWebResponse = (source: unknown): source is Response => hasMethod(propertyOf(source, "headers"), "get")

const strings = (values: unknown): Array<string> => [values].flat().filter(Predicate.isString)

/** Each `set-cookie` by itself: node-fetch has them in `raw()`, Node and undici in a list. */
export const cookiesIn = (headers: unknown): Array<string> => {
  if (hasMethod(headers, "getSetCookie")) return strings(headers.getSetCookie())
  if (hasMethod(headers, "raw")) return strings(propertyOf(headers.raw(), "set-cookie"))
  return strings(hasMethod(headers, "get") ? headers.get("set-cookie") : propertyOf(headers, "set-cookie"))
}

/** The platform's `cookies` has only the last of one name: it stands in if the headers are hidden. */
export const setCookiesOf = (response: PlatformResponse): Array<string> => {
  const cookies = cookiesIn(propertyOf(sourceOf(response), "headers"))
  return cookies.length > 0 ? cookies : Cookies.toSetCookieHeaders(response.cookies)
}

/** Node calls it statusMessage. */
export const statusTextOf = (response: unknown): string => {
  const source = sourceOf(response)
  return strings(propertyOf(source, "statusText") ?? propertyOf(source, "statusMessage")).join("")
}

export const urlOf = (response: unknown): string => strings(propertyOf(sourceOf(response), "url")).join("")
