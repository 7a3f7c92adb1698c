import type * as Cookies from "@effect/platform/Cookies"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import {
  BadRequest,
  type Operation,
  ServerError,
  TooManyRequests,
  UnexpectedResponse
} from "../../NutritionAdvisorError.js"

export interface Response {
  readonly status: number
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  /** Where the client has read them; else they are in the headers. */
  readonly cookies?: Cookies.Cookies | undefined
  readonly body: Uint8Array
  /** The headers that errors may show. */
  readonly observed?: Readonly<Record<string, string>>
}

/** As it came: its body is only the beginning where `isWhole` is false, since it was larger than the status allows. */
export interface Received extends Response {
  readonly isWhole: boolean
}

export const isOk = (status: number) => status >= 200 && status < 300

const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

type Secrets = ReadonlyArray<Redacted.Redacted<string>>

/** Seconds until the time of a Retry-After header (RFC 9110, section 10.2.3); a past date is zero. Undefined where the number equals a secret. */
export const retryAfter = (headers: Response["headers"], now: number, secrets: Secrets = []): number | undefined => {
  const value = String(headers["retry-after"] ?? "").trim()
  const seconds = /^\d{1,15}(\.\d{1,9})?$/.test(value)
    ? Number(value)
    : httpDate.test(value)
    ? Math.max(0, (Date.parse(value) - now) / 1000)
    : Number.NaN
  const isSecret = secrets.some((secret) => Number(Redacted.value(secret)) === seconds)
  return Number.isFinite(seconds) && !isSecret ? seconds : undefined
}

const redirects = new Set([0, 301, 302, 303, 307, 308])

const isText = (headers: Response["headers"]) =>
  /^(text\/|application\/([\w.-]+\+)?json)/i.test(String(headers["content-type"] ?? ""))

/** In bytes of the response. */
const longestBody = 4 * 1024

/** The first 4 KiB; a character that is cut there is left out. */
const textOf = (body: Uint8Array): string =>
  new TextDecoder().decode(body.subarray(0, longestBody), { stream: body.length > longestBody })

export interface Head {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What every error keeps of the answer that it was made from. */
export const head = ({ observed, status }: Response): Head =>
  observed === undefined ? { status } : { status, headers: observed }

interface Kept extends Head {
  readonly body?: Redacted.Redacted<string>
}

/** The body may repeat a secret in any disguise, so that it is redacted as a whole. */
export const keep = (response: Response): Kept => {
  const { body, headers } = response
  return body.length > 0 && isText(headers)
    ? { ...head(response), body: Redacted.make(textOf(body)) }
    : head(response)
}

/** The error of an answer that is not 2xx (SERVICE.md section 7; docs/errors.md). */
export const statusError = (
  response: Response,
  operation: Operation,
  secrets?: Secrets
): Effect.Effect<never, BadRequest | ServerError | TooManyRequests | UnexpectedResponse> => {
  const { headers, status } = response
  if (status === 400) return Effect.fail(new BadRequest({ operation, ...keep(response) }))
  if (status === 429 || (status >= 500 && status < 600)) {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const seconds = retryAfter(headers, now, secrets)
      const timing = seconds === undefined ? {} : { retryAfter: seconds }
      return Effect.fail(
        status === 429
          ? new TooManyRequests({ operation, ...keep(response), ...timing })
          : new ServerError({ operation, ...keep(response), ...timing })
      )
    })
  }
  return Effect.fail(
    redirects.has(status)
      ? new UnexpectedResponse({ operation, ...head(response), reason: "Redirect" })
      : new UnexpectedResponse({ operation, ...keep(response), reason: "Status" })
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The body as JSON; a byte order mark is passed over, as RFC 8259, section 8.1 allows. */
export const json = (
  response: Response,
  operation: Operation
): Effect.Effect<unknown, UnexpectedResponse> =>
  Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(response.body)),
    catch: () => new UnexpectedResponse({ operation, ...head(response), reason: "NotJson" })
  })
