import * as Effect from "effect/Effect"
import { invalidData } from "../effect3.js"

/**
 * Reads a variable; undefined if it is blank or not set. Errors don't repeat the value, because it may be a misplaced secret. They name the
 * variable here, because Effect 4 adds no path to an error of a Config.
 */
const optional = <A>(expected: string, parse: (text: string) => Option.Option<A>) => (variable: string) =>
  Config.String(variable).pipe(
    Config.mapEffect((text): Effect.Effect<A | undefined, ConfigError.ConfigError> =>
      text.trim() === ""
        ? Effect.succeed(undefined)
        : Effect.mapError(
          Effect.fromOption(parse(text.trim())),
          () => invalidData([variable], `must be ${expected}`)
        )
    ),
    Config.option,
    Config.map(Option.getOrUndefined)
  )
