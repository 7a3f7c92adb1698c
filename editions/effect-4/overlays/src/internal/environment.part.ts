import { invalidData } from "./effect3.js"

/** The variable is named here: Effect 4 adds no path to what a Config refuses. */
const optional = <A>(field: string, expected: string, parse: (text: string) => Option.Option<A>) =>
  Config.String(variableOf(field)).pipe(
    Config.mapEffect((text): Effect.Effect<A | undefined, ConfigError.ConfigError> =>
      text.trim() === ""
        ? Effect.succeed(undefined)
        : Effect.mapError(
          Effect.fromOption(parse(text.trim())),
          () => invalidData([variableOf(field)], `must be ${expected}`)
        )
    ),
    Config.option,
    Config.map(Option.getOrUndefined)
  )

export const asConfigurationError = (error: unknown): unknown => {
  if (!(error instanceof ConfigError.ConfigError)) return error
  const issue = "issue" in error.cause ? error.cause.issue : undefined
  const variable = issue?._tag === "Pointer" ? issue.path.join("_") : ""
  const field = Object.keys(advisor()).find((field) => variableOf(field) === variable)
  const isMissing = /The variable |Expected string\n/.test(error.message)
  const refused = issue?._tag === "Pointer" && issue.issue._tag === "InvalidValue" ? issue.issue.annotations : undefined
  const rule = isMissing ? "is not set" : field === undefined ? "is not accepted" : refused?.message
  return new ConfigurationError({ field: field ?? variable, rule, variable })
}
