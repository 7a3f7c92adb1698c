/** The sentence of each error: what happened, and what to do. */
import type * as NutritionAdvisorError from "../NutritionAdvisorError.js"

const callNames = { token: "The token exchange", search: "The search", request: "The request" }

const callOf = ({ operation }: { readonly operation: NutritionAdvisorError.Operation }) => callNames[operation]

const statusText = (status: number | undefined) => status === undefined ? "" : ` with status ${status}`

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Try again later." : `Try again in ${Math.ceil(retryAfter)} s.`

const detailText = (detail: string | undefined) => detail === undefined ? "" : ` (${detail})`

const bodyText = (body: unknown) => body === undefined ? "" : " What the service said is in the field body, redacted."

export const badRequest = (error: NutritionAdvisorError.BadRequest): string => {
  const what = error.status === undefined ? "was not sent" : `was refused${statusText(error.status)}`
  const advice = error.operation === "token" && error.status !== undefined
    ? "Check the license key, and the route it was sent to: baseUrl and tokenRoute."
    : "Correct the request."
  return `${callOf(error)} ${what}${detailText(error.detail)}. ${advice}${bodyText(error.body)}`
}

export const serverError = (error: NutritionAdvisorError.ServerError): string =>
  `${callOf(error)} failed at the service${statusText(error.status)}. ${retryText(error.retryAfter)}`

const forbiddenTexts: Record<NutritionAdvisorError.ForbiddenReason, string> = {
  RejectedAgain: "was rejected, and rejected again with a new token. The license may not cover it.",
  TokenUnchanged: "was rejected, and the service handed back the same token. The license may not cover it.",
  CoolingDown: "was rejected, and renewing the token did not help a moment ago. The license may not cover it.",
  KeyRejected: "was rejected. Check the license key, and the route it was sent to: baseUrl and tokenRoute.",
  BodyNotReplayable:
    "was rejected, the token was renewed, and a streamed body can't be sent twice. Send the request again."
}

export const forbidden = (error: NutritionAdvisorError.Forbidden): string =>
  `${callOf(error)} ${forbiddenTexts[error.reason]} (status ${error.status})`

export const missingServiceId = (error: NutritionAdvisorError.MissingServiceId): string =>
  `${callOf(error)} brought no customer identifier. Set serviceId to the one on the product dashboard.`

export const tooManyRequests = (error: NutritionAdvisorError.TooManyRequests): string => {
  const what = error.status === undefined
    ? "was held back and not sent, to keep within the rate limit of the service"
    : "met the rate limit of the service"
  return `${callOf(error)} ${what}. ${retryText(error.retryAfter)}`
}

const transportTexts = {
  Timeout: { what: "timed out", advice: "Try again, or raise the timeout." },
  Aborted: { what: "was cut off, or not sent since the client is closed", advice: "Try again with an open client." },
  Connection: { what: "could not reach the service", advice: "Check the base URL and the network." }
}

/** What to check first, by the codes that people meet. */
const adviceByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Check that the service is listening at the base URL.",
  ENOTFOUND: "Check the host name in the base URL, the DNS, and that the client uses your proxy if you have one.",
  EAI_AGAIN: "Check the DNS.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "Check the base URL, or let Node trust the certificate: NODE_EXTRA_CA_CERTS.",
  SELF_SIGNED_CERT_IN_CHAIN: "Check the base URL, or let Node trust the certificate: NODE_EXTRA_CA_CERTS.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "Check the base URL, or let Node trust the certificate: NODE_EXTRA_CA_CERTS.",
  CERT_HAS_EXPIRED: "Check the certificate of the service, and the clock of this machine.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Check the host name in the base URL."
}

export const transportError = (error: NutritionAdvisorError.TransportError): string => {
  const { advice, what } = transportTexts[error.reason]
  return `${callOf(error)} ${what}${detailText(error.code)}. ${adviceByCode[error.code ?? ""] ?? advice}`
}

const unexpectedTexts = {
  Status: { what: "a status that the service does not document", advice: "Check baseUrl and the path." },
  Redirect: { what: "a redirect, which is never followed", advice: "Check baseUrl." },
  TooLarge: { what: "a body that is too large", advice: "Raise maxResponseBytes." },
  NotJson: { what: "a body that is not JSON", advice: "Check baseUrl: a proxy or a login page may have answered." },
  Schema: { what: "JSON of another shape than expected", advice: "Check the schema." }
}

export const unexpectedResponse = (error: NutritionAdvisorError.UnexpectedResponse): string => {
  const { advice, what } = unexpectedTexts[error.reason]
  const check = error.operation === "token" ? "Check baseUrl and tokenRoute." : advice
  return `${callOf(error)} was answered with ${what} (status ${error.status}). ${check}${bodyText(error.body)}`
}

export const licenseKeyUnavailable = (error: NutritionAdvisorError.LicenseKeyUnavailable): string =>
  `The license key is not available${detailText(error.detail)}. Check where the application keeps it.`

export const configurationError = (error: NutritionAdvisorError.ConfigurationError): string => {
  const setting = `The setting ${error.field}${error.variable === undefined ? "" : ` (${error.variable})`}`
  const rule = error.rule ?? "has a value that the client can't work with"
  return rule.startsWith("`") ? `${setting}: ${rule}.` : `${setting} ${rule}.`
}
