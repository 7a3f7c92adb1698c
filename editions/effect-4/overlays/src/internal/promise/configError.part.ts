export const asConfigurationError = (error: unknown): unknown => {
  if (!(error instanceof ConfigError.ConfigError)) return error
  const issue = "issue" in error.cause ? error.cause.issue : undefined
  const variable = issue?._tag === "Pointer" ? issue.path.join("_") : ""
  const field = fieldOf(variable)
  const isMissing = /The variable |Expected string\n/.test(error.message)
  const refused = issue?._tag === "Pointer" && issue.issue._tag === "InvalidValue" ? issue.issue.annotations : undefined
  const rule = isMissing ? "is not set" : field === undefined ? "is not accepted" : refused?.message
  return new ConfigurationError({ field: field ?? variable, rule, variable })
}
