import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import {
  BadRequest,
  type NutritionAdvisorError,
  type Operation,
  ServerError,
  TooManyRequests,
  UnexpectedResponse
} from "../../NutritionAdvisorError.js"
import type { BufferedResponse } from "./messages.js"
import { redirects } from "./status.js"

/** A response from the service. If its status is 2xx, its body is whole. */
export interface ServiceResponse extends BufferedResponse {
  readonly operation: Operation
  /** The response headers that errors and spans may show. */
  readonly observeHeaders: ReadonlyArray<string>
}

/** Returns the value of a header, or undefined if it is missing. */
export const headerOf = ({ headers }: ServiceResponse, name: string): string | undefined => {
  const value = headers[name]
  return value === undefined ? undefined : String(value).trim()
}

/**
 * The date formats of RFC 9110, section 5.6.7: IMF-fixdate, RFC 850 and asctime. The last one implies GMT without naming it. Services in Go
 * often write UTC instead of GMT.
 */
const date = /^[A-Z][a-z]+(, .* (GMT|UTC)| .* \d{4})$/

/** Some services send the Unix time at which the wait ends. A number this large is such a time: as seconds, it would be 31 years. */
const firstUnixTime = 1e9

/**
 * Returns the time in a Retry-After header (RFC 9110, section 10.2.3) as seconds from now. A time in the past is zero. If a gateway has added
 * a second number, the first one counts, as with node:http.
 */
const secondsUntil = (value: string, now: number): number | undefined => {
  const seconds = Number(/^\d{1,15}(\.\d{1,9})?(?= *(,|$))/.exec(value)?.[0])
  if (seconds < firstUnixTime) return seconds
  const millis = date.test(value) ? Date.parse(/\d$/.test(value) ? `${value} GMT` : value) : seconds * 1000
  return Number.isNaN(millis) ? undefined : Math.max(0, (millis - now) / 1000)
}

/** Whether the body is text, JSON or XML. Some services send JSON as application/octet-stream, or without a content type. */
const isReadable = (response: ServiceResponse) =>
  /^(text\/|application\/([\w.-]+\+)?(json|xml))/i.test(headerOf(response, "content-type") ?? "") ||
  jsonOf(response) !== undefined

const keptBodyBytes = 4 * 1024

const keptHeaderCharacters = 256

export const observedHeaders = ({ headers, observeHeaders }: ServiceResponse): Record<string, string> =>
  Object.fromEntries(observeHeaders.flatMap((name) => {
    const text = [headers[name] ?? []].flat().join(", ")
    return text === "" ? [] : [[name, text.slice(0, keptHeaderCharacters)]]
  }))

export interface ResponseFields {
  readonly operation: Operation
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Redacted.Redacted<string>
}

export const fieldsWithoutBody = (response: ServiceResponse): ResponseFields => {
  const { observeHeaders, operation, status } = response
  return { operation, status, ...observeHeaders.length > 0 && { headers: observedHeaders(response) } }
}

/** Adds the body. It is redacted, because it may repeat a secret. If the limit splits a character, the character is dropped. */
export const fieldsWithBody = (response: ServiceResponse): ResponseFields => {
  const { body } = response
  if (body.length === 0 || !isReadable(response)) return fieldsWithoutBody(response)
  const text = new TextDecoder().decode(body.subarray(0, keptBodyBytes), { stream: body.length > keptBodyBytes })
  return { ...fieldsWithoutBody(response), body: Redacted.make(text) }
}

const fieldsWithRetryAfter = (response: ServiceResponse, now: number) => {
  const retryAfter = secondsUntil(headerOf(response, "retry-after") ?? "", now)
  return { ...fieldsWithBody(response), ...retryAfter !== undefined && { retryAfter } }
}

/** Fails with the error for a response that is not 2xx (SERVICE.md section 7; RFC 9110, section 15). */
export const statusError = (response: ServiceResponse): Effect.Effect<never, NutritionAdvisorError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<never, NutritionAdvisorError> => {
    const { status } = response
    if (status === 400) return new BadRequest(fieldsWithBody(response))
    if (status === 429) return new TooManyRequests(fieldsWithRetryAfter(response, now))
    if (status >= 500 && status < 600) return new ServerError(fieldsWithRetryAfter(response, now))
    return redirects.has(status)
      ? new UnexpectedResponse({ ...fieldsWithoutBody(response), reason: "Redirect" })
      : new UnexpectedResponse({ ...fieldsWithBody(response), reason: "Status" })
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * Returns the body as JSON, or undefined if it isn't JSON. The body of an error is cut at 64 KiB, so a longer one isn't JSON. A byte order
 * mark is ignored (RFC 8259, section 8.1).
 */
export const jsonOf = ({ body }: ServiceResponse): unknown => {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}

export const jsonOrError = (response: ServiceResponse): Effect.Effect<unknown, UnexpectedResponse> => {
  const parsed = jsonOf(response)
  return parsed === undefined
    ? new UnexpectedResponse({ ...fieldsWithoutBody(response), reason: "NotJson" })
    : Effect.succeed(parsed)
}
