import * as Predicate from "effect/Predicate"
import {
  type ConfigurationError,
  isNutritionAdvisorError,
  type NutritionAdvisorError
} from "../../NutritionAdvisorError.js"
import { inParentheses } from "../errors/sentences.js"
import { variableOf, variablesOf } from "../options/environment.js"
import { sharedClient } from "../settings/settings.js"

type LibraryError = NutritionAdvisorError | ConfigurationError

export const isLibraryError = (error: unknown): error is LibraryError =>
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

/** The user often can't change the setup, so these messages say who can. */
const setupHelps = (advice: string) => `Searching again won't help. Whoever set up this tool should ${advice}.`

const retryHelps = (retry: string, advice: string) =>
  `${retry} If that fails too, whoever set up this tool should ${advice}.`

const keyAdvice = setupHelps(`check ${variables.licenseKey}, ${variables.baseUrl} and ${variables.tokenRoute}`)

const licenseAdvice = `check ${variables.serviceId} and what the license covers`

const retryText = (retryAfter: number | undefined) =>
  retryAfter === undefined ? "Search again later." : `Search again in ${Math.ceil(retryAfter)} s.`

/** Each message says what happened, and what the model or the person who set up the tool can do. */
const sentences: { readonly [E in LibraryError as E["_tag"]]: (error: E) => string } = {
  BadRequest: ({ detail = "it is not valid", operation, status }) => {
    const response = status === undefined ? "" : ` (status ${status})`
    if (operation === "token") return `The license key was rejected${response}. ${keyAdvice}`
    if (status === undefined) return `The search was not sent: ${detail}. Search with another term.`
    return `The food search service rejected the search${response}. Search with another term. If every search ` +
      `fails, whoever set up this tool should check ${variables.serviceId}.`
  },
  ServerError: ({ retryAfter, status }) =>
    `The food search service failed (status ${status}). ${retryText(retryAfter)}`,
  Forbidden: ({ reason, status }) => {
    const response = `(status ${status})`
    if (reason === "KeyRejected") return `The license key was rejected ${response}. ${keyAdvice}`
    return reason === "CoolingDown"
      ? `The food search service keeps refusing searches ${response}. ${
        retryHelps("Search again in a minute.", licenseAdvice)
      }`
      : `The food search service refused the search ${response}. ${setupHelps(licenseAdvice)}`
  },
  MissingServiceId: () => {
    const advice = `set ${variables.serviceId} to the identifier on the product dashboard`
    return `The food search service did not send a customer identifier. ${setupHelps(advice)}`
  },
  TooManyRequests: ({ retryAfter }) => `The food search has reached its rate limit. ${retryText(retryAfter)}`,
  TransportError: ({ code, reason }) => {
    switch (reason) {
      case "Timeout":
        return `The food search service did not respond in time. ${
          retryHelps("Search again.", "check the network, including any firewall or proxy")
        }`
      case "Connection":
        return `The food search service could not be reached${inParentheses(code)}. ${
          retryHelps("Search again later.", `check ${variables.baseUrl} and the network`)
        }`
      case "Aborted":
        return `The connection to the food search service was cut off${inParentheses(code)}. Search again.`
      case "Closed":
        return "The food search was shut down. To search again, restart the program that runs this tool."
    }
  },
  UnexpectedResponse: ({ operation, reason, status }) => {
    const what = {
      Status: `responded with an unexpected status code (${status})`,
      Redirect: `responded with a redirect (status ${status}), which is not followed`,
      TooLarge: "sent a response that is too large",
      NotJson: `sent a response that is not JSON (status ${status})`,
      Schema: "sent JSON with an unexpected structure"
    }[reason]
    const searchAdvice = reason === "TooLarge"
      ? retryHelps("Search with a narrower term.", `raise ${variables.maxResponseBytes}`)
      : setupHelps(`check ${reason === "Schema" ? "the schema of this tool" : variables.baseUrl}`)
    const tokenAdvice = setupHelps(`check ${variables.baseUrl} and ${variables.tokenRoute}`)
    return `The food search service ${what}. ${operation === "token" ? tokenAdvice : searchAdvice}`
  },
  LicenseKeyUnavailable: ({ detail }) => {
    const advice = retryHelps("Search again later.", "check where it reads the license key from")
    return `The license key could not be read${inParentheses(detail)}. ${advice}`
  },
  ConfigurationError: ({ field, rule = "has a value that is not valid", variable }) =>
    `The food search is not set up correctly: ${variable ?? withVariables(field)} ${withVariables(rule)}.`
}

/** Returns the message of a tool error. The error's own message is for the person who writes the program. */
export const messageOf = <E extends LibraryError>(error: E): string =>
  (sentences[error._tag] as (error: E) => string)(error)
