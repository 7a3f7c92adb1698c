import * as Predicate from "effect/Predicate"
import {
  ConfigurationError,
  isNutritionAdvisorError,
  isTransient,
  type NutritionAdvisorError
} from "../../NutritionAdvisorError.js"
import { reasons } from "../errors/forbidden.js"
import { hints } from "../errors/messages.js"
import { namesWithVariable, variableOf } from "../options/environment.js"
import { sharedClientDeclarations } from "../settings/sharing.js"

type LibraryError = NutritionAdvisorError | ConfigurationError

const isConfigurationError = (error: unknown): error is ConfigurationError =>
  Predicate.isTagged(error, "ConfigurationError")

export const isLibraryError = (error: unknown): error is LibraryError =>
  isNutritionAdvisorError(error) || isConfigurationError(error)

/** The names of options that can't also be ordinary words of a message. */
const optionNames = namesWithVariable(sharedClientDeclarations).filter((name) => /[A-Z]/.test(name))

const optionName = new RegExp(`\\b(${optionNames.join("|")})\\b`, "g")

/** Replaces the names of options with the environment variables, because the person who set up the tool knows the variables. */
const optionsAsVariables = (text: string): string => text.replace(optionName, variableOf)

/** Removes what the message says about redacted fields, because a model can't read them. */
const messageWithoutHints = ({ message }: NutritionAdvisorError): string =>
  Object.values(hints).reduce((text, hint) => text.replace(hint, ""), message)

/** Replaces the field with its variable, and drops the parentheses that would repeat the variable. */
const messageWithVariable = (error: ConfigurationError): string =>
  new ConfigurationError({ ...error, field: error.variable ?? error.field }).message

const setupNeeded = "Searching again won't help. Whoever set up this tool can fix it."

/** The statuses of a URL that is too long (RFC 9110, section 15.5.15). Node counts the URL as a part of the headers. */
const isTooLong = (error: NutritionAdvisorError) =>
  error.operation === "search" && "status" in error && (error.status === 414 || error.status === 431)

/** Whether a search can succeed with another term. */
const dependsOnTerm = (error: NutritionAdvisorError) =>
  error.operation !== "token" &&
  (error._tag === "BadRequest" || (error._tag === "UnexpectedResponse" && error.reason === "TooLarge"))

const maySucceedLater = (error: NutritionAdvisorError) =>
  isTransient(error) || (error._tag === "Forbidden" && reasons[error.reason].isTemporary)

const adviceFor = (error: LibraryError): string => {
  if (isConfigurationError(error)) return setupNeeded
  if (isTooLong(error)) return "Search with a shorter term."
  if (dependsOnTerm(error)) return "Search with another term."
  return maySucceedLater(error) ? "Searching again later may help." : setupNeeded
}

/**
 * Returns the message of a tool error: the error's own message, with environment variables instead of options, and then whether it helps to
 * search again. The error's own message is for the person who writes the program.
 */
export const messageForModel = (error: LibraryError): string => {
  const message = isConfigurationError(error) ? messageWithVariable(error) : messageWithoutHints(error)
  return `${optionsAsVariables(message)} ${adviceFor(error)}`
}
