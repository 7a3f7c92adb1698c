import * as ConfigError from "effect/ConfigError"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import { variableOf } from "../environment.js"
import * as Settings from "../settings.js"

/**
 * Converts a ConfigError to a ConfigurationError, because programs without Effect don't know ConfigError. The error names all missing
 * variables. If a Config has alternatives, only the first one counts. The message of a custom Config is dropped, because it may repeat the
 * value.
 */
export const asConfigurationError = (error: unknown): unknown => {
  if (!ConfigError.isConfigError(error)) return error
  const problems: Array<{ readonly isMissing: boolean; readonly message: string; readonly variable: string }> = []
  const collect = (part: ConfigError.ConfigError): void => {
    if (part._op === "And" || part._op === "Or") {
      collect(part.left)
      if (part._op === "And") collect(part.right)
      return
    }
    problems.push({ isMissing: part._op === "MissingData", message: part.message, variable: part.path.join("_") })
  }
  collect(error)
  const fieldOf = (variable: string) =>
    Object.keys(Settings.sharedClient).find((field) => variableOf(field) === variable)
  const listOf = (names: ReadonlyArray<string>) => new Intl.ListFormat("en").format(names)
  const missing = problems.filter(({ isMissing }) => isMissing).map(({ variable }) => variable)
  if (missing.length > 0) {
    return new ConfigurationError({
      field: listOf(missing.map((variable) => fieldOf(variable) ?? variable)),
      rule: missing.length === 1 ? "is not set" : "are not set",
      variable: listOf(missing)
    })
  }
  const { message = "is not accepted", variable = "" } = problems[0] ?? {}
  const field = fieldOf(variable)
  return new ConfigurationError({ field: field ?? variable, rule: field ? message : "is not accepted", variable })
}
