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
