import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { BadRequest, type Operation, type TransportError } from "../../NutritionAdvisorError.js"
import { timeoutError } from "../errors/transportErrors.js"
import { connectionHeaders, isAllowedHeader, isConditionOrRange, presentHeaders } from "../http/header.js"
import type { OutgoingRequest } from "../http/messages.js"
import { toSendable } from "../http/upload.js"
import * as Url from "../http/url.js"
import type { DataSettings } from "../settings/settings.js"
import type { NormalizedOptions } from "./searchOptions.js"
import { tokenHeaderNames } from "./tokenHeaders.js"

export const searchRoute = "/v2/products/napi/food/search/semantic"

/** The operation of a data request, which needs a token. */
export type DataOperation = Exclude<Operation, "token">

/** A request before `request/authorized` adds the token and the common headers. */
export interface RequestWithoutToken extends Omit<OutgoingRequest, "headers"> {
  /** Undefined if the request has no headers of its own. */
  readonly headers: OutgoingRequest["headers"] | undefined
}

const notSent = (operation: DataOperation, detail: string): Exit.Exit<never, BadRequest> =>
  Exit.fail(new BadRequest({ operation, detail }))

const badHeader = "a header contains characters that HTTP does not allow"

const areAllowedHeaders = (headers: Headers.Headers) => Object.entries(headers).every(isAllowedHeader)

const areWellFormed = (params: Url.QueryPairs) =>
  params.every(([name, value]) => Url.isWellFormed(name) && Url.isWellFormed(value))

/** Removes the headers of a token, of the connection, and of a body whose length is known. */
const withoutReservedHeaders = (settings: DataSettings, headers: Headers.Headers, body: HttpBody.HttpBody) => {
  // The length of such a stream is known only to the caller, if at all.
  const isOfUnknownLength = body._tag === "Stream" && body.contentLength === undefined
  const ofBody = isOfUnknownLength ? [] : ["content-length"]
  return Headers.remove(headers, [...tokenHeaderNames(settings), ...connectionHeaders, ...ofBody])
}

/** A backend may forward these headers from a browser. The service could then respond with a 304, or with only part of the payload. */
const withoutConditionsAndRange = (headers: Headers.Headers) =>
  Headers.remove(headers, Object.keys(headers).filter(isConditionOrRange))

/** Returns why a search can't be sent, or undefined if it can. */
const problemOf = (term: string, { headers }: NormalizedOptions, params: Url.QueryPairs): string | undefined => {
  // Frameworks may pass undefined or an array here.
  if (typeof term !== "string") return "the search term is not a string"
  if (term.trim() === "") return "the search term is blank"
  if (!Url.isWellFormed(term) || !areWellFormed(params)) {
    return "the search term or a query parameter contains a lone surrogate"
  }
  if (headers !== undefined && !areAllowedHeaders(headers)) return badHeader
  return undefined
}

export const searchRequest = (
  settings: DataSettings,
  term: string,
  options: NormalizedOptions
): Exit.Exit<RequestWithoutToken, BadRequest> => {
  const { headers, urlParams } = options
  const params = urlParams.filter(([name]) => name !== "term")
  const problem = problemOf(term, options, params)
  if (problem !== undefined) return notSent("search", problem)
  const otherParams = params.length === 0 ? "" : `&${Url.query(params)}`
  return Exit.succeed({
    method: "GET",
    origin: settings.baseUrl.origin,
    path: `${settings.baseUrl.pathname}${searchRoute}?term=${Url.encode(term)}${otherParams}`,
    headers: headers && withoutReservedHeaders(settings, withoutConditionsAndRange(headers), HttpBody.empty),
    body: HttpBody.empty
  })
}

const unreadableBody = () => new BadRequest({ operation: "request", detail: "its body can't be read" })

const withBodyTimeout = (duration: number) => <A>(reading: Effect.Effect<A, unknown>) =>
  Effect.timeoutFail(Effect.mapError(reading, unreadableBody), { duration, onTimeout: () => timeoutError("request") })

/** Builds a request of the authorized client, without a token. Its URL must be below the base URL. */
export const httpClientRequest = (
  settings: DataSettings,
  given: HttpClientRequest.HttpClientRequest
): Effect.Effect<RequestWithoutToken, BadRequest | TransportError> => {
  if (!Url.isWellFormed(given.url) || !areWellFormed(given.urlParams)) {
    return notSent("request", "the URL contains a lone surrogate")
  }
  const headers = presentHeaders(given.headers)
  if (!areAllowedHeaders(headers)) return notSent("request", badHeader)
  const url = Url.resolveWithin(settings.baseUrl, given.url)
  if (url === undefined) return notSent("request", "the URL is outside the base URL")
  const query = [url.search.slice(1), Url.query(given.urlParams)].filter((part) => part !== "").join("&")
  return Effect.map(toSendable(given.body, withBodyTimeout(settings.requestTimeout)), (body) => ({
    method: given.method,
    origin: url.origin,
    path: url.pathname + (query === "" ? "" : `?${query}`),
    headers: withoutReservedHeaders(settings, headers, body),
    body
  }))
}
