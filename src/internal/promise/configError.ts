import type { NonEmptyReadonlyArray } from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import { variableOf } from "../options/environment.js"
import * as Sharing from "../settings/sharing.js"

const fieldOf = (variable: string) =>
  Object.keys(Sharing.sharedClientDeclarations).find((field) => variableOf(field) === variable)

const listOf = (names: ReadonlyArray<string>) => new Intl.ListFormat("en").format(names)

/**
 * Converts a ConfigError to a ConfigurationError, because programs without Effect don't know ConfigError. The error names all missing
 * variables. If a Config has alternatives, only the first one counts. The message of a custom Config is dropped: it may repeat the value.
 */
export const asConfigurationError = (error: unknown): unknown => {
  if (!ConfigError.isConfigError(error)) return error
  const problemsOf = (
    part: ConfigError.ConfigError
  ): NonEmptyReadonlyArray<Exclude<ConfigError.ConfigError, ConfigError.And | ConfigError.Or>> => {
    if (part._op === "And") return [...problemsOf(part.left), ...problemsOf(part.right)]
    return part._op === "Or" ? problemsOf(part.left) : [part]
  }
  const problems = problemsOf(error)
  const missing = problems.filter(ConfigError.isMissingData).map(({ path }) => path.join("_"))
  if (missing.length > 0) {
    return new ConfigurationError({
      field: listOf(missing.map((variable) => fieldOf(variable) ?? variable)),
      rule: missing.length === 1 ? "is not set" : "are not set",
      variable: listOf(missing)
    })
  }
  const [{ message, path }] = problems
  const variable = path.join("_")
  const field = fieldOf(variable)
  return new ConfigurationError({ field: field ?? variable, rule: field ? message : "is not accepted", variable })
}
