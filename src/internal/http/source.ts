import * as Cookies from "@effect/platform/Cookies"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Predicate from "effect/Predicate"

/** What the platform made its response of: a web Response, or one of Node or undici. */
const sourceOf = (response: unknown): unknown => {
  if (Predicate.hasProperty(response, "original")) return sourceOf(response.original)
  return Predicate.hasProperty(response, "source") ? response.source : undefined
}

/** The Response of fetch, where fetch made it. */
export const fetchedOf = (response: HttpClientResponse.HttpClientResponse): Response | undefined => {
  const source = sourceOf(response)
  return source instanceof globalThis.Response ? source : undefined
}

/** Each set-cookie header by itself. The platform's `cookies` has only the last of one name: it stands in where the headers are hidden. */
export const setCookiesOf = (response: HttpClientResponse.HttpClientResponse): Array<string> => {
  const fetched = fetchedOf(response)
  if (fetched !== undefined) return fetched.headers.getSetCookie()
  const source = sourceOf(response)
  const headers = Predicate.hasProperty(source, "headers") ? source.headers : undefined
  const values = Predicate.hasProperty(headers, "set-cookie")
    ? [headers["set-cookie"]].flat().filter(Predicate.isString)
    : []
  return values.length > 0 ? values : Cookies.toSetCookieHeaders(response.cookies)
}
