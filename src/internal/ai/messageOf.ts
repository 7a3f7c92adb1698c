import * as Predicate from "effect/Predicate"
import type { ConfigurationError, NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { isNutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { variableOf, variablesOf } from "../environment.js"
import { sharedClient } from "../settings.js"

type ClientError = NutritionAdvisorError | ConfigurationError

export const isClientError = (error: unknown): error is ClientError =>
  isNutritionAdvisorError(error) || Predicate.isTagged(error, "ConfigurationError")

const variables = {
  baseUrl: variableOf("baseUrl"),
  licenseKey: variableOf("licenseKey"),
  maxResponseBytes: variableOf("maxResponseBytes"),
  serviceId: variableOf("serviceId"),
  tokenRoute: variableOf("tokenRoute")
}

/** Only names that can't also be ordinary words of a message. */
const optionNames = Object.keys(variablesOf(sharedClient)).filter((name) => /[A-Z]/.test(name))

const optionName = new RegExp(`\\b(${optionNames.join("|")})\\b`, "g")

/** Replaces the names of options with the environment variables, because the person who set up the tool knows those. */
const withVariables = (text: string): string => text.replace(optionName, variableOf)

const inParentheses = (text: string | undefined) => text === undefined ? "" : ` (${text})`

/** The user often can't change the setup, so the message says who can. */
const askToCheck = (what: string) => `Searching again won't help. Whoever set up this tool should check ${what}.`

const keyAdvice = askToCheck(`${variables.licenseKey}, ${variables.baseUrl} and ${variables.tokenRoute}`)

const licenseAdvice = askToCheck(`${variables.serviceId} and what the license covers`)

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Search again later." : `Search again in ${Math.ceil(retryAfter)} s.`

const transportText = (reason: string, code: string | undefined): string => {
  switch (reason) {
    case "Timeout":
      return "The food search service did not respond in time. Search again. If that fails too, whoever set up this tool " +
        "should check the network, including any firewall or proxy."
    case "Connection":
      return `The food search service could not be reached${
        inParentheses(code)
      }. Search again later. If that fails too, ` +
        `whoever set up this tool should check ${variables.baseUrl} and the network.`
    case "Aborted":
      return `The connection to the food search service was cut off${inParentheses(code)}. Search again.`
    default:
      return "The food search was shut down. To search again, restart the program that runs this tool."
  }
}

const unexpectedText = (
  { operation, reason, status }: Pick<
    Extract<ClientError, { _tag: "UnexpectedResponse" }>,
    "operation" | "reason" | "status"
  >
): string => {
  const what = {
    Status: `responded with an unexpected status code (${status})`,
    Redirect: `responded with a redirect (status ${status}), which is not followed`,
    TooLarge: `sent a response that is too large`,
    NotJson: `sent a response that is not JSON (status ${status})`,
    Schema: `sent JSON with an unexpected structure`
  }[reason]
  const happened = `The food search service ${what}.`
  if (operation === "token") return `${happened} ${askToCheck(`${variables.baseUrl} and ${variables.tokenRoute}`)}`
  if (reason === "TooLarge") {
    return `${happened} Search with a narrower term. If that fails too, whoever set up this tool should raise ` +
      `${variables.maxResponseBytes}.`
  }
  return `${happened} ${askToCheck(reason === "Schema" ? "the schema of this tool" : variables.baseUrl)}`
}

/** Each message says what happened, and what the model or the person who set up the tool can do. */
const sentences: { readonly [E in ClientError as E["_tag"]]: (error: E) => string } = {
  BadRequest: ({ detail, operation, status }) => {
    if (operation === "token") return `The license key was rejected${inParentheses(statusText(status))}. ${keyAdvice}`
    if (status === undefined) {
      return `The search was not sent: ${detail ?? "it is not valid"}. Search with another term.`
    }
    return `The food search service rejected the search (status ${status}). Search with another term. If every search ` +
      `fails, whoever set up this tool should check ${variables.serviceId}.`
  },
  ServerError: ({ retryAfter, status }) =>
    `The food search service failed (status ${status}). ${retryText(retryAfter)}`,
  Forbidden: ({ reason, status }) => {
    if (reason === "KeyRejected") return `The license key was rejected (status ${status}). ${keyAdvice}`
    if (reason !== "CoolingDown") {
      return `The food search service refused the search (status ${status}). ${licenseAdvice}`
    }
    return `The food search service keeps refusing searches (status ${status}). Search again in a minute. If that fails ` +
      `too, whoever set up this tool should check ${variables.serviceId} and what the license covers.`
  },
  MissingServiceId: () =>
    "The food search service did not send a customer identifier. Searching again won't help. Whoever set up this tool " +
    `should set ${variables.serviceId} to the identifier on the product dashboard.`,
  TooManyRequests: ({ retryAfter }) => `The food search has reached its rate limit. ${retryText(retryAfter)}`,
  TransportError: ({ code, reason }) => transportText(reason, code),
  UnexpectedResponse: unexpectedText,
  LicenseKeyUnavailable: ({ detail }) =>
    `The license key could not be read${
      inParentheses(detail)
    }. Search again later. If that fails too, whoever set up this ` +
    "tool should check where it reads the license key from.",
  ConfigurationError: ({ field, rule = "has a value that is not valid", variable }) =>
    `The food search is not set up correctly: ${variable ?? withVariables(field)} ${withVariables(rule)}.`
}

const statusText = (status: number | undefined) => status === undefined ? undefined : `status ${status}`

/** Returns the message of a tool error. The error's own message is for the person who writes the program. */
export const messageOf = <E extends ClientError>(error: E): string =>
  (sentences[error._tag] as (error: E) => string)(error)
