import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import type { SearchOptions } from "../../NutritionAdvisor.js"
import { BadRequest, TransportError } from "../../NutritionAdvisorError.js"
import type { DataOperation } from "../http/answer.js"
import type { Request } from "../http/dispatch.js"
import { isHeaderField } from "../http/header.js"
import * as Upload from "../http/upload.js"
import * as Url from "../http/url.js"
import { hasMethod } from "../http/webBody.js"
import type { DataSettings } from "../settings.js"

export const searchRoute = "/v2/products/napi/food/search/semantic"

type Built = Effect.Effect<Request, BadRequest | TransportError>

const notSent = (operation: DataOperation, detail: string): Effect.Effect<never, BadRequest> =>
  new BadRequest({ operation, detail })

const badHeader = "a header holds characters that HTTP does not allow"

const areHeaderFields = (headers: Headers.Headers) => Object.entries(headers).every(isHeaderField)

const areWellFormed = (params: Url.Pairs) =>
  params.every(([name, value]) => Url.isWellFormed(name) && Url.isWellFormed(value))

/**
 * They belong to a connection (RFC 9110, sections 7.2 and 7.6.1), and often come with headers that a caller passes on. So does
 * accept-encoding: no client but fetch undoes a coding, and fetch asks for those that it knows.
 */
const ofConnection =
  "accept-encoding connection expect host keep-alive proxy-connection te trailer transfer-encoding upgrade".split(" ")

/** Without the method and the path that HTTP/2 puts among the headers, and without a header that is null. */
const present = (headers: Headers.Headers): Headers.Headers =>
  Headers.remove(headers, [
    ...Object.entries(headers).flatMap(([name, value]) => isPresent(name, value) ? [] : [name])
  ])

const isPresent = (name: string, value: unknown) => !name.startsWith(":") && value !== null && value !== undefined

/** Without those that connection and body decide. */
const fromCaller = (headers: Headers.Headers, body: HttpBody.HttpBody) => {
  const hasOwnLength = body._tag === "Stream" && body.contentLength === undefined
  return Headers.remove(headers, [...ofConnection, ...hasOwnLength ? [] : ["content-length"]])
}

type Param = UrlParams.CoercibleRecord[string]

/** Without null and undefined, also in a list or a record. */
const given = (value: Param): Param => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.filter((item) => item !== null && item !== undefined)
  return Symbol.iterator in value ? value : givenIn(value)
}

const givenIn = (record: UrlParams.CoercibleRecord): UrlParams.CoercibleRecord =>
  Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => value === null ? [] : [[name, given(value)]])
  )

const isIterable = (input: UrlParams.Input): input is Iterable<readonly [string, UrlParams.Coercible]> =>
  Symbol.iterator in input

const paramsOf = (input: UrlParams.Input): Url.Pairs =>
  isIterable(input)
    ? Array.from(input).flatMap(([name, value]) => value === null ? [] : UrlParams.fromInput({ [name]: given(value) }))
    : UrlParams.fromInput(givenIn(input))

/** The options of a search that have been read. */
interface Read extends SearchOptions {
  readonly urlParams: Url.Pairs
  readonly headers: Headers.Headers | undefined
}

const read = (options: SearchOptions): Read => ({
  ...options,
  urlParams: paramsOf(options.urlParams ?? []),
  headers: options.headers && present(Headers.fromInput(options.headers))
})

/** An iterator is spent once it was read, so a list takes its place. */
const listed = <Input extends object | undefined>(input: Input) =>
  hasMethod(input, Symbol.iterator) && input[Symbol.iterator]() === input ? Array.from(input as Iterable<never>) : input

const withLists = (options: SearchOptions): SearchOptions => ({
  ...options,
  urlParams: listed(options.urlParams),
  headers: listed(options.headers)
})

/** What the options throw is a defect of the search. */
const readingBy = <Options>(readOptions: (options: SearchOptions) => Options) =>
<A, E, R>(
  options: SearchOptions | undefined,
  search: (options: Options | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (options === undefined) return search(undefined)
  try {
    return search(readOptions(options))
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** Reads the options of a search at once, so that the same is sent each time it runs. */
export const withOptions = readingBy(read)

/** Reads only what can't be read again: a layer or a double sees the other options as they were given. */
export const withIteratorsRead = readingBy(withLists)

/** The request of a search, without a token. */
export const search = (
  settings: DataSettings,
  term: string,
  { headers, urlParams }: Read = { headers: undefined, urlParams: [] }
): Effect.Effect<Request, BadRequest> => {
  // Of a web framework the term may be missing, or a list, whatever its type says.
  if (typeof term !== "string") return notSent("search", "the search term is no text")
  if (term.trim() === "") return notSent("search", "the search term is blank")
  const params = urlParams.filter(([name]) => name !== "term")
  if (!Url.isWellFormed(term) || !areWellFormed(params)) {
    return notSent("search", "the search term or a query parameter holds half of a surrogate pair")
  }
  if (headers !== undefined && !areHeaderFields(headers)) return notSent("search", badHeader)
  const further = params.length === 0 ? "" : `&${Url.query(params)}`
  return Effect.succeed({
    method: "GET",
    origin: settings.base.origin,
    path: `${settings.base.pathname}${searchRoute}?term=${Url.encode(term)}${further}`,
    headers: headers === undefined
      ? settings.ownHeaders
      : { ...settings.ownHeaders, ...fromCaller(headers, HttpBody.empty) },
    body: HttpBody.empty
  })
}

const unreadable = () => new BadRequest({ operation: "request", detail: "its body can't be read" })

const timedOut = () => new TransportError({ operation: "request", reason: "Timeout" })

const rawBody = (
  { bytes, contentType: usual }: Upload.Upload,
  { contentType = usual }: Pick<HttpBody.Raw, "contentType">
) => HttpBody.raw(bytes, { contentType })

/** A body that each client can send. One that has to be read may take as long as a request. */
const sendable = (
  { requestTimeout }: DataSettings,
  body: HttpBody.HttpBody
): Effect.Effect<HttpBody.HttpBody, BadRequest | TransportError> => {
  if (body._tag !== "FormData" && body._tag !== "Raw") return Effect.succeed(body)
  const content = body._tag === "FormData" ? body.formData : body.body
  if (typeof content === "string") return Effect.succeed(body)
  const upload = Upload.inMemory(content)
  if (upload !== undefined) return Effect.succeed(rawBody(upload, body))
  const reading = Upload.read(content)
  const stream = Upload.streamOf(content)
  if (reading === undefined) return Effect.succeed(stream ? HttpBody.stream(stream, body.contentType) : body)
  return reading.pipe(
    Effect.mapBoth({ onFailure: unreadable, onSuccess: (upload) => rawBody(upload, body) }),
    Effect.timeoutFail({ duration: requestTimeout, onTimeout: timedOut })
  )
}

/** A request of the authorized client, below the base URL, without a token. */
export const below = (settings: DataSettings, request: HttpClientRequest.HttpClientRequest): Built => {
  if (!Url.isWellFormed(request.url) || !areWellFormed(request.urlParams)) {
    return notSent("request", "the URL holds half of a surrogate pair")
  }
  const headers = present(request.headers)
  if (!areHeaderFields(headers)) return notSent("request", badHeader)
  const url = Url.below(settings.base, request.url)
  if (url === undefined) return notSent("request", "the URL leaves the base URL")
  const query = [url.search.slice(1), Url.query(request.urlParams)].filter((part) => part !== "").join("&")
  return Effect.map(sendable(settings, request.body), (body) => ({
    method: request.method,
    origin: url.origin,
    path: url.pathname + (query === "" ? "" : `?${query}`),
    headers: {
      ...settings.ownHeaders,
      ...HttpClientRequest.setBody(HttpClientRequest.get(url), body).headers,
      ...fromCaller(headers, body)
    },
    body
  }))
}

/** The request as its response shows it. */
export const withoutToken = (
  settings: DataSettings,
  request: HttpClientRequest.HttpClientRequest
): HttpClientRequest.HttpClientRequest =>
  Object.assign(Object.create(Object.getPrototypeOf(request)), request, {
    headers: Headers.remove(request.headers, ["authorization", settings.serviceIdHeader])
  })
