import * as ConfigProvider from "effect/ConfigProvider"

export const asConfigurationError = (error: unknown): unknown => {
  if (!(error instanceof ConfigError.ConfigError)) return error
  const issue = "issue" in error.cause ? error.cause.issue : undefined
  const variable = issue?._tag === "Pointer" ? issue.path.join("_") : ""
  const field = Object.keys(Environment.advisor()).find((field) => Environment.variableOf(field) === variable)
  const isMissing = /The variable |Expected string\n/.test(error.message)
  const rule = isMissing ? "is not set" : field === undefined ? "is not accepted" : error.message
  return new ConfigurationError({ field: field ?? variable, rule, variable })
}

const fromVariables = () =>
  Effect.suspend(() => Config.unwrap<Options>(Environment.advisor())).pipe(
    Effect.mapError(asConfigurationError),
    Effect.flatMap((options) => Effect.mapError(checked(options), withVariable)),
    // The provider that Effect 4 has by default keeps the variables of its first use.
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv())
  )
