import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { BadRequest } from "../../NutritionAdvisorError.js"
import { isSendable } from "../http/header.js"
import type { Request, WholeRequest } from "../http/request.js"
import * as Url from "../http/url.js"
import type { DataSettings } from "../settings.js"
import * as SentWith from "./searchOptions.js"
import * as Worker from "./worker.js"

export const searchRoute = "/v2/products/napi/food/search/semantic"

/** The settings that requests are built from. */
interface Target extends Pick<DataSettings, "base" | "serviceIdHeader"> {
  /** Of each request that has none of its own. */
  readonly ownHeaders: Readonly<Record<string, string>>
  /** Whether the caller is in another request of a worker than the layer, and would wait for ever. */
  readonly isInOtherRequest: () => boolean
}

const areSendable = (headers: Headers.Headers) => Object.entries(headers).every(isSendable)

const areWellFormed = (params: Url.Pairs) =>
  params.every(([name, value]) => Url.isWellFormed(name) && Url.isWellFormed(value))

const notSent = (operation: "search" | "request", detail: string) => new BadRequest({ operation, detail })

const badHeader = "a header holds characters that HTTP does not allow"

/** The request of a search. Callers without types may give anything. */
export const searchRequest = (
  { base, isInOtherRequest, ownHeaders, serviceIdHeader }: Target,
  term: unknown,
  further: SentWith.Further | undefined
): WholeRequest | BadRequest => {
  if (isInOtherRequest()) return notSent("search", Worker.detail)
  if (typeof term !== "string") return notSent("search", "the search term is no text")
  if (term.trim() === "") return notSent("search", "the search term is blank")
  if (further === undefined) return SentWith.unreadable()
  const { headers, urlParams = [] } = further
  const params = urlParams.filter(([name]) => name !== "term")
  if (!Url.isWellFormed(term) || !areWellFormed(params)) {
    return notSent("search", "the search term or a query parameter holds half of a surrogate pair")
  }
  if (headers !== undefined && !areSendable(headers)) return notSent("search", badHeader)
  return {
    method: "GET",
    origin: base.origin,
    path: `${base.pathname}${searchRoute}?${Url.query([["term", term], ...params])}`,
    headers: headers === undefined
      ? ownHeaders
      : { ...ownHeaders, ...Headers.remove(headers, ["authorization", serviceIdHeader]) },
    body: HttpBody.empty
  }
}

/** The request without the two headers that are the client's own, for its response. */
export const withoutToken = (
  { serviceIdHeader }: Pick<Target, "serviceIdHeader">,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest => {
  const { headers } = request
  return "authorization" in headers || serviceIdHeader in headers
    ? Object.assign(Object.create(Object.getPrototypeOf(request)), request, {
      headers: Headers.remove(headers, ["authorization", serviceIdHeader])
    })
    : request
}

/** A request of the authorized client, below the base URL. Callers without types may give one that can't be read. */
export const requestBelow = (
  target: Target,
  request: HttpClientRequest.HttpClientRequest
): Request | BadRequest => {
  try {
    return below(target, request)
  } catch {
    return notSent("request", "the request can't be read")
  }
}

const below = (
  { base, isInOtherRequest, ownHeaders, serviceIdHeader }: Target,
  request: HttpClientRequest.HttpClientRequest
): Request | BadRequest => {
  if (isInOtherRequest()) return notSent("request", Worker.detail)
  const params = Url.pairsOf(request.urlParams)
  if (!Url.isWellFormed(request.url) || !areWellFormed(params)) {
    return notSent("request", "the URL holds half of a surrogate pair")
  }
  if (!areSendable(request.headers)) return notSent("request", badHeader)
  const url = Url.below(base, request.url)
  if (url === undefined) return notSent("request", "the URL leaves the base URL")
  const query = [url.search.slice(1), Url.query(params)].filter((part) => part !== "").join("&")
  const ofBody = HttpClientRequest.setBody(HttpClientRequest.get(url), request.body).headers
  return {
    method: request.method,
    origin: url.origin,
    path: url.pathname + (query === "" ? "" : `?${query}`),
    headers: {
      ...ownHeaders,
      ...ofBody,
      ...Headers.remove(request.headers, ["authorization", serviceIdHeader])
    },
    body: request.body
  }
}
