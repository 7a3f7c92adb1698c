import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Received } from "./response.js"

/** Of the errors that undici's interceptors make of an answer: `responseError`, and `retry` once it gives up. */
const codes = new Set<unknown>(["UND_ERR_RESPONSE", "UND_ERR_REQ_RETRY"])

/** Fails where the value is nested deeper than the stack. */
const jsonOf = Option.liftThrowable((value: unknown) => String(JSON.stringify(value)))

/** `responseError` has parsed a body of JSON, and decoded one of text; of another it keeps nothing. */
const bytesOf = (body: unknown): Uint8Array => {
  const text = typeof body === "string" ? body : body === undefined ? "" : Option.getOrElse(jsonOf(body), () => "")
  return new TextEncoder().encode(text)
}

const isField = (value: unknown): value is string | Array<string> =>
  typeof value === "string" || (Array.isArray(value) && value.every(Predicate.isString))

const fieldsOf = (headers: unknown): Received["headers"] =>
  Predicate.isRecord(headers)
    ? Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) => isField(value) ? [[name.toLowerCase(), value]] : [])
    )
    : {}

const isRefused = (status: unknown): status is number => Number.isInteger(status) && Number(status) >= 300

/** The answer that such an error, or one of its causes, was made of. A body above the limit is left out, as it is elsewhere. */
export const responseIn = (
  error: unknown,
  maxBytesOf: (status: number) => number,
  depth = 5
): Received | undefined => {
  if (!Predicate.isRecord(error) || depth === 0) return undefined
  const { body, cause, code, headers, statusCode: status } = error
  if (!codes.has(code) || !isRefused(status)) return responseIn(cause, maxBytesOf, depth - 1)
  const bytes = bytesOf(body)
  const isWhole = bytes.length <= maxBytesOf(status)
  return { status, headers: fieldsOf(headers), body: bytes, isWhole }
}
