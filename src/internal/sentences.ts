import type { ConfigurationError, ForbiddenReason, NutritionAdvisorError } from "../NutritionAdvisorError.js"
import { adviceOf } from "./transportCodes.js"

type AnyError = NutritionAdvisorError | ConfigurationError

const callNames = { token: "The token exchange", search: "The search", request: "The request" }

const callOf = ({ operation }: Pick<NutritionAdvisorError, "operation">) => callNames[operation]

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Try again later." : `Try again in ${Math.ceil(retryAfter)} s.`

const inParentheses = (text: string | undefined) => text === undefined ? "" : ` (${text})`

/** Where only the service knows what it did not like. */
const hintAtBody = (body: unknown) => body === undefined ? "" : " The error's body has what the service said, redacted."

const sharedAdvice = {
  key: "Check the license key, the route it was sent to (baseUrl and tokenRoute), and what stands in between.",
  request: "Correct the request, or serviceId if each one is refused.",
  license: "The license may not cover it, serviceId may name another customer, or something in between refuses it."
}

/** What follows "was rejected". */
const forbiddenTexts: Record<ForbiddenReason, string> = {
  RejectedAgain: `, and rejected again with a new token. ${sharedAdvice.license}`,
  TokenUnchanged: `, and the service handed back the same token. ${sharedAdvice.license}`,
  CoolingDown: `, and the next renewal must wait. Another program may end the key's tokens. ${sharedAdvice.license}`,
  KeyRejected: `. ${sharedAdvice.key}`,
  BodyNotReplayable: ", the token was renewed, and a streamed body can't be sent twice. Send the request again."
}

const transportTexts = {
  Timeout: { what: "timed out", advice: "Look for a firewall or proxy, or raise tokenTimeout or requestTimeout." },
  Aborted: { what: "was cut off, or the client is closed", advice: "Try again, with an open client." },
  Closed: { what: "was not finished, because the client is closed", advice: "Create a new client." },
  CutOff: { what: "was cut off", advice: "Try again." },
  Broken: { what: "met broken HTTP, or too large headers", advice: "Check the base URL and your proxy." },
  Connection: {
    what: "could not reach the service",
    advice: "Check the base URL, the network, your proxy, and a mock of fetch or a wrapped HttpClient."
  }
}

const unexpectedTexts = {
  Status: { what: "an unexpected status", advice: "Check the request, its path and baseUrl." },
  Redirect: { what: "a redirect, which is never followed", advice: "Check baseUrl." },
  TooLarge: { what: "a body that is too large", advice: "Raise maxResponseBytes." },
  NotJson: { what: "a body that is empty or not JSON", advice: "Check baseUrl: a proxy or a login page may answer." },
  Schema: { what: "JSON of another shape than expected", advice: "Check the schema." }
}

/** An issuer may also return a token that has expired already. */
const faultsOf = (field: string) => field === "expires_in" ? "missing, wrong or already over" : "missing or wrong"

/** What happened, and what to do. */
const sentences: { readonly [E in AnyError as E["_tag"]]: (error: E) => string } = {
  BadRequest: (error) => {
    const { body, detail, operation, status } = error
    const what = status === undefined ? "was not sent" : `was refused with status ${status}`
    const ofAnswer = operation === "token" ? sharedAdvice.key : sharedAdvice.request
    const advice = status === undefined ? "Correct the request." : ofAnswer
    return `${callOf(error)} ${what}${inParentheses(detail)}. ${advice}${hintAtBody(body)}`
  },
  ServerError: (error) => `${callOf(error)} failed with status ${error.status}. ${retryText(error.retryAfter)}`,
  Forbidden: (error) =>
    `${callOf(error)} was rejected (status ${error.status})${forbiddenTexts[error.reason]}${hintAtBody(error.body)}`,
  MissingServiceId: (error) =>
    `${callOf(error)} brought no customer identifier (customer_id). Set serviceId to the one on the product dashboard.`,
  TooManyRequests: (error) => {
    const what = error.status === undefined
      ? "was held back and not sent, to keep within the rate limit of the service"
      : "met the rate limit of the service"
    return `${callOf(error)} ${what}. ${retryText(error.retryAfter)}`
  },
  TransportError: (error) => {
    const { code = "", reason } = error
    const isBroken = /^HPE_|HEADERS_OVERFLOW|RES_CONTENT_LENGTH/.test(code)
    const { advice, what } = transportTexts[isBroken ? "Broken" : reason === "Aborted" && code ? "CutOff" : reason]
    return `${callOf(error)} ${what}${inParentheses(error.code)}. ${adviceOf(code) ?? advice}`
  },
  UnexpectedResponse: (error) => {
    const { body, field, issue, operation, reason, status } = error
    const { advice, what } = unexpectedTexts[reason]
    const shape = field === undefined ? what : `JSON whose field ${field} is ${faultsOf(field)}`
    const check = operation === "token" ? "Check baseUrl and tokenRoute: a proxy may answer." : advice
    const hint = issue === undefined ? hintAtBody(body) : " The error's issue says where and why, redacted."
    return `${callOf(error)} was answered with ${shape} (status ${status}). ${check}${hint}`
  },
  LicenseKeyUnavailable: ({ detail }) =>
    `The license key is not available${inParentheses(detail)}. Check where the application keeps it.`,
  ConfigurationError: ({ field, rule = "has a value that the client can't work with", variable }) =>
    `The setting${rule.startsWith("are ") ? "s" : ""} ${field}${
      inParentheses(variable === field ? undefined : variable)
    } ${rule}.`
}

/** The message of an error; none of its prototype, which has no tag and which mocks of Jest and Vitest read. */
export const sentenceOf = <E extends AnyError>(error: E): string =>
  (sentences[error._tag] as ((error: E) => string) | undefined)?.(error) ?? ""
