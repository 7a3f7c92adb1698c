import * as Cookies from "@effect/platform/Cookies"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Predicate from "effect/Predicate"

/** The headers of what the platform made its response of: a web Response, or one of Node or undici. */
const givenHeaders = (response: unknown): unknown => {
  if (Predicate.hasProperty(response, "original")) return givenHeaders(response.original)
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  return Predicate.hasProperty(source, "headers") ? source.headers : undefined
}

/** Whether fetch made it, which undoes the coding of a body. */
export const isOfFetch = (response: HttpClientResponse.HttpClientResponse): boolean =>
  givenHeaders(response) instanceof globalThis.Headers

/** Each set-cookie header by itself. The platform's `cookies` has only the last of one name: it stands in where the headers are hidden. */
export const setCookiesOf = (response: HttpClientResponse.HttpClientResponse): Array<string> => {
  const given = givenHeaders(response)
  if (given instanceof globalThis.Headers) return given.getSetCookie()
  const values = Predicate.hasProperty(given, "set-cookie")
    ? [given["set-cookie"]].flat().filter(Predicate.isString)
    : []
  return values.length > 0 ? values : Cookies.toSetCookieHeaders(response.cookies)
}
