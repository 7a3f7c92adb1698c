import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import {
  BadRequest,
  type Operation,
  ServerError,
  TooManyRequests,
  UnexpectedResponse
} from "../NutritionAdvisorError.js"
import { scrub } from "./scrub.js"
import type { WholeAnswer } from "./sendWhole.js"

export type Answer = Omit<WholeAnswer, "isWhole">

export const isOk = (status: number) => status >= 200 && status < 300

const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Seconds until the time of a Retry-After header, a number or a date (RFC 9110, section 10.2.3); a past date is zero. */
export const retryAfter = (headers: Answer["headers"], now: number): number | undefined => {
  const value = String(headers["retry-after"] ?? "").trim()
  const seconds = /^\d{1,15}(\.\d{1,9})?$/.test(value)
    ? Number(value)
    : httpDate.test(value)
    ? Math.max(0, (Date.parse(value) - now) / 1000)
    : Number.NaN
  return Number.isFinite(seconds) ? seconds : undefined
}

const redirects = new Set([0, 301, 302, 303, 307, 308])

const text = new TextDecoder()

const isText = (headers: Answer["headers"]) =>
  /^(text\/|application\/([\w.-]+\+)?json)/i.test(String(headers["content-type"] ?? ""))

/**
 * The error that SERVICE.md section 7 and the error table give to an answer that is not 2xx. Where the secrets are not known,
 * nothing of the body is kept.
 */
export const refusal = (
  { body, headers, status }: Answer,
  operation: Operation,
  secrets: Option.Option<ReadonlyArray<Redacted.Redacted<string>>>
): Effect.Effect<never, BadRequest | ServerError | TooManyRequests | UnexpectedResponse> => {
  if (status === 400) {
    const detail = Option.isSome(secrets) && isText(headers) ? scrub(text.decode(body), secrets.value) : undefined
    return Effect.fail(new BadRequest({ operation, status, ...(detail === undefined ? {} : { detail }) }))
  }
  if (status === 429 || (status >= 500 && status < 600)) {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const seconds = retryAfter(headers, now)
      const timing = seconds === undefined ? {} : { retryAfter: seconds }
      return Effect.fail(
        status === 429
          ? new TooManyRequests({ operation, ...timing })
          : new ServerError({ operation, status, ...timing })
      )
    })
  }
  return Effect.fail(
    new UnexpectedResponse({ operation, status, reason: redirects.has(status) ? "Redirect" : "Status" })
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The body as JSON; a byte order mark is passed over, as RFC 8259, section 8.1 allows. */
export const json = (
  { body, status }: Answer,
  operation: Operation
): Effect.Effect<unknown, UnexpectedResponse> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(body)),
    catch: () => new UnexpectedResponse({ operation, status, reason: "NotJson" })
  })
