import type {
  ConfigurationError,
  NutritionAdvisorError,
  TransportError,
  UnexpectedResponse
} from "../../NutritionAdvisorError.js"
import { keyAdvice, reasons } from "./forbidden.js"
import { adviceOf, isBroken } from "./transportCodes.js"

type AnyError = NutritionAdvisorError | ConfigurationError

const callNames = { token: "The token exchange", search: "The search", request: "The request" }

const callOf = ({ operation }: Pick<NutritionAdvisorError, "operation">) => callNames[operation]

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Try again later." : `Try again in ${Math.ceil(retryAfter)} s.`

const inParentheses = (text: string | undefined) => text === undefined ? "" : ` (${text})`

/** Sentences that point to redacted fields: to the body of a response, in which the service may name the cause, and to the issue. */
export const hints = {
  body: " The error's body field contains the response body, redacted.",
  issue: " The error's issue field describes the mismatch, redacted."
}

const hintsOf = ({ body, issue }: { readonly body?: unknown; readonly issue?: unknown }) =>
  (body === undefined ? "" : hints.body) + (issue === undefined ? "" : hints.issue)

const requestAdvice = "Correct the request. If every request is rejected, check serviceId."

/** What happened, and what to do. */
type Text = readonly [what: string, advice: string]

const droppedAdvice = "Check for a firewall or proxy that drops the connection, or raise"

const transportTexts: Readonly<Record<TransportError["reason"] | "TokenTimeout" | "Broken", Text>> = {
  Timeout: ["timed out", `${droppedAdvice} requestTimeout or the call's timeout.`],
  TokenTimeout: ["timed out", `${droppedAdvice} tokenTimeout.`],
  Aborted: ["was cut off before the response was complete", "Try again."],
  Closed: ["failed because the client is closed", "Create a new client."],
  Broken: [
    "got a response that is not valid HTTP, has headers that are too large, or can't be decompressed",
    "Check the base URL and your proxy."
  ],
  Connection: [
    "could not reach the service",
    "Check the base URL, the network and your proxy. In a test, check any fetch mock or HttpClient wrapper."
  ]
}

const tokenAdvice = "Check baseUrl and tokenRoute: a proxy may be responding instead."

/** Many services document their base URL with the version. */
const notFoundAdvice = "Check tokenRoute and baseUrl: the client itself adds /v2."

const unexpectedTexts: Readonly<Record<UnexpectedResponse["reason"] | "Token", Text>> = {
  Status: ["an unexpected status code", "Check the request, its path and baseUrl."],
  Redirect: ["a redirect, which is never followed", "Check baseUrl."],
  TooLarge: ["a response body that is too large", "Raise maxResponseBytes."],
  NotJson: [
    "a response body that is empty or not JSON",
    "Check baseUrl: a proxy or login page may be responding instead."
  ],
  Schema: ["JSON that doesn't match the schema", "Check the schema."],
  Token: ["JSON that is not a token response", tokenAdvice]
}

const messages: { readonly [E in AnyError as E["_tag"]]: (error: E) => string } = {
  BadRequest: (error) => {
    const { detail, operation, status } = error
    if (status === undefined) return `${callOf(error)} was not sent${inParentheses(detail)}. Correct the request.`
    const advice = operation === "token" ? keyAdvice : requestAdvice
    return `${callOf(error)} was rejected with status ${status}${inParentheses(detail)}. ${advice}${hintsOf(error)}`
  },
  ServerError: (error) => `${callOf(error)} failed with status ${error.status}. ${retryText(error.retryAfter)}`,
  Forbidden: (error) =>
    `${callOf(error)} was rejected (status ${error.status})${reasons[error.reason].ending}${hintsOf(error)}`,
  MissingServiceId: (error) =>
    `${callOf(error)} returned no customer identifier (customer_id). ` +
    "Set serviceId to the one on your product dashboard.",
  TooManyRequests: (error) => {
    const what = error.status === undefined
      ? "was not sent, to stay within the rate limit"
      : `exceeded the service's rate limit (status ${error.status})`
    return `${callOf(error)} ${what}. ${retryText(error.retryAfter)}`
  },
  TransportError: (error) => {
    const { code, operation, reason } = error
    const ownReason = operation === "token" && reason === "Timeout" ? "TokenTimeout" : reason
    const [what, advice] = transportTexts[isBroken(error) ? "Broken" : ownReason]
    return `${callOf(error)} ${what}${inParentheses(code)}. ${adviceOf(code) ?? advice}`
  },
  UnexpectedResponse: (error) => {
    const { field, operation, reason, status } = error
    const isOfToken = operation === "token"
    const [what, usualAdvice] = unexpectedTexts[isOfToken && reason === "Schema" ? "Token" : reason]
    // A custom issuer may return a token that has already expired.
    const fault = field === "expires_in" ? "missing, invalid or expired" : "missing or invalid"
    const shown = field === undefined ? what : `JSON with a ${fault} ${field}`
    const adviceOfToken = status === 404 ? notFoundAdvice : tokenAdvice
    const advice = isOfToken ? adviceOfToken : usualAdvice
    return `${callOf(error)} got ${shown} (status ${status}). ${advice}${hintsOf(error)}`
  },
  LicenseKeyUnavailable: ({ detail }) =>
    `The license key is not available${inParentheses(detail)}. Check where it is read from.`,
  ConfigurationError: ({ field, rule = "has a value that the client can't use", variable }) => {
    // The promise client names all missing settings in one error, whose rule is "are not set".
    const settings = rule.startsWith("are ") ? "settings" : "setting"
    return `The ${settings} ${field}${inParentheses(variable === field ? undefined : variable)} ${rule}.`
  }
}

/** Returns the message of an error. It is empty for a prototype, which has no tag: mocks in Jest and Vitest read the prototype's message. */
export const messageOf = <E extends AnyError>(error: E): string =>
  (messages[error._tag] as ((error: E) => string) | undefined)?.(error) ?? ""
