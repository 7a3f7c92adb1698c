/** The ways to read an environment variable. */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** Reads a variable; undefined if it is blank or not set. Errors don't repeat the value, because it may be a misplaced secret. */
const optional = <A>(expected: string, parse: (text: string) => Option.Option<A>) => (variable: string) =>
  Config.string(variable).pipe(
    Config.mapOrFail((text): Either.Either<A | undefined, ConfigError.ConfigError> =>
      text.trim() === ""
        ? Either.right(undefined)
        : Either.fromOption(parse(text.trim()), () => ConfigError.InvalidData([], `must be ${expected}`))
    ),
    Config.option,
    Config.map(Option.getOrUndefined)
  )

const isYes = /^(true|yes|on|1)$/i

const isNo = /^(false|no|off|0)$/i

export const namesIn = (text: string): ReadonlyArray<string> =>
  text.split(",").map((name) => name.trim()).filter((name) => name !== "")

export const readers = {
  requiredText: Config.string,
  // `Config.redacted` would also redact the message that names what is expected.
  requiredSecret: (variable: string) => Config.map(Config.string(variable), (value) => Redacted.make(value)),
  text: optional("a string", Option.some),
  duration: optional("a duration with its unit, such as \"10 seconds\"", Duration.decodeUnknown),
  wholeNumber: optional(
    "a whole number",
    (text) => /^[+-]?\d+$/.test(text) ? Option.some(Number(text)) : Option.none()
  ),
  flag: optional(
    "true or false",
    (text) => isYes.test(text) || isNo.test(text) ? Option.some(isYes.test(text)) : Option.none()
  ),
  names: optional("names with commas between them", (text) => Option.some(namesIn(text)))
}

type ValueOf<Kind extends keyof typeof readers> = ReturnType<typeof readers[Kind]> extends Config.Config<infer Value>
  ? NonNullable<Value>
  : never

/** The ways to read the variable of an option. A string may also be one of several names, which `parse` checks. */
export type ReaderOf<Value> = {
  [Kind in keyof typeof readers]: ValueOf<Kind> extends Value ? Kind : Value extends ValueOf<Kind> ? Kind : never
}[keyof typeof readers]
