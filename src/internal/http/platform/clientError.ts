/** Reads the errors of clients, whatever their class: their codes, and the responses that some of them stand for. */
import * as Predicate from "effect/Predicate"
import { decompressionCode } from "../../errors/transportCodes.js"
import { type BufferedResponse, emptyBody } from "../messages.js"
import { isOk } from "../status.js"
import { isWebResponse, recordOf } from "./nativeResponse.js"

/**
 * The format of the error codes of Node, undici and OpenSSL. Nothing else of a client's error is kept. axios replaces the codes of fetch
 * with ERR_NETWORK.
 */
const knownCode = /^(?!ERR_NETWORK$)[A-Z][A-Z\d_/]{1,79}$/

/** The start of the name of a timeout, or of its message in axios, node-fetch 2, make-fetch-happen and handwritten wrappers of fetch. */
const timeout = /^((network|request|response) )?time(d )?out/i

/** The messages of fetch for a request that it refuses to send, and the code for each. */
const refusals: ReadonlyArray<readonly [message: RegExp, code: string]> = [
  [/^bad port$/, "BAD_PORT"],
  [/method cannot have (a )?body|HTTP method/, "BAD_METHOD"],
  [/invalid header (name|value)|ByteString/i, "ERR_INVALID_CHAR"],
  [/^Invalid URL/, "ERR_INVALID_URL"]
]

type ErrorFields = Readonly<Record<string, unknown>>

const textOf = (field: unknown) => Predicate.isString(field) ? field : ""

/** Returns what `find` finds first among five levels of causes and aggregated errors. An error may be its own cause. */
const findInCauses = <A>(error: unknown, find: (error: ErrorFields) => A | undefined, depth = 5): A | undefined => {
  if (!Predicate.isRecord(error) || depth === 0) return undefined
  const inner = [error.errors, error.cause].flat()
  return find(error) ?? inner.map((cause) => findInCauses(cause, find, depth - 1)).find(Predicate.isNotUndefined)
}

/**
 * Returns the code of an error. These errors have no code that says what happened, so they are recognized by their name or message:
 *
 * - a timeout, from a custom fetch, an AbortSignal.timeout in it, or an Effect.timeout in a wrapper
 * - undici 7's error for invalid HTTP
 * - fetch's errors for a request that it refuses to send
 * - Deno's error for a host that it may not connect to
 */
const codeOf = ({ code, message, name }: ErrorFields) => {
  const text = textOf(message)
  const ownCode = textOf(code)
  if (timeout.test(textOf(name)) || timeout.test(text)) return "ETIMEDOUT"
  if (knownCode.test(ownCode) || decompressionCode.test(ownCode)) return ownCode
  if (name === "HTTPParserError") return /EOF/.test(text) ? "HPE_INVALID_EOF_STATE" : "HPE_INVALID"
  if (name === "NotCapable") return "ERR_ACCESS_DENIED"
  return refusals.find(([refusal]) => refusal.test(text))?.[1]
}

export const codeIn = (error: unknown): string | undefined => findInCauses(error, codeOf)

/** Returns a response without a body, unless its status is 2xx, or 0 as in a Response.error(). */
const responseWithoutBody = (status: unknown, headers = {}): BufferedResponse | undefined =>
  typeof status === "number" && status > 0 && !isOk(status)
    ? { status, headers, ...emptyBody }
    : undefined

/**
 * Whether an error of undici stands for a 407. The cause of fetch's error then has neither a message nor a code, and the message of a
 * ProxyAgent without a tunnel ends with "(407)".
 */
const is407 = ({ cause, message }: ErrorFields) =>
  message === "fetch failed"
    ? Predicate.isRecord(cause) && cause.message === "" && codeIn(cause) === undefined
    : textOf(message).endsWith("(407)")

/**
 * Returns the response that a client has replaced with an error, without its body. The errors of ky and axios have a `response`, some
 * wrappers of fetch throw the response itself, and undici's interceptors `retry` and `responseError` set a `statusCode`.
 */
const replacedResponse = (error: ErrorFields): BufferedResponse | undefined => {
  const { code, headers, message, response, statusCode } = error
  const thrown = message === undefined ? error : response
  if (isWebResponse(thrown)) return responseWithoutBody(thrown.status, recordOf(thrown.headers))
  const isOfInterceptor = code === "UND_ERR_REQ_RETRY" || code === "UND_ERR_RESPONSE"
  if (isOfInterceptor) return responseWithoutBody(statusCode, { ...headers as BufferedResponse["headers"] })
  return is407(error) ? responseWithoutBody(407) : undefined
}

export const responseIn = (error: unknown): BufferedResponse | undefined => findInCauses(error, replacedResponse)
