import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as String from "effect/String"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import type { Declarations, VariableTypes } from "./declarations.js"

export const variableOf = (field: string) => `NUTRITION_ADVISOR_${String.camelToSnake(field).toUpperCase()}`

export const namesWithVariable = (declarations: object): ReadonlyArray<string> =>
  Object.entries(declarations).flatMap(([name, declaration]) => "variable" in declaration ? [name] : [])

/** Reads a variable; undefined if it is blank or not set. Errors don't repeat the value, because it may be a misplaced secret. */
const optional = <A>(variable: string, expected: string, parse: (text: string) => Option.Option<A>) =>
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

/** The names in a list with commas between them. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  text.split(",").map((name) => name.trim()).filter((name) => name !== "")

type Readers = {
  readonly [Kind in keyof VariableTypes]: (variable: string) => Config.Config<VariableTypes[Kind] | undefined>
}

const readers: Readers = {
  requiredText: Config.string,
  // If the variable is missing, `Config.redacted` would redact what is expected, too.
  requiredSecret: (variable) => Config.map(Config.string(variable), (value) => Redacted.make(value)),
  text: (variable) => optional(variable, "a string", Option.some),
  duration: (variable) =>
    optional(variable, "a duration with its unit, such as \"10 seconds\"", Duration.decodeUnknown),
  wholeNumber: (variable) =>
    optional(variable, "a whole number", (text) => /^[+-]?\d+$/.test(text) ? Option.some(Number(text)) : Option.none()),
  flag: (variable) =>
    optional(
      variable,
      "true or false",
      (text) => isYes.test(text) || isNo.test(text) ? Option.some(isYes.test(text)) : Option.none()
    ),
  names: (variable) => optional(variable, "names with commas between them", (text) => Option.some(namesIn(text)))
}

/** Reads the variables of the options that have one. */
const variablesOf = <Options>(
  declarations: Partial<Declarations<Options>>,
  nameOf: (field: string) => string
): Config.Config.Wrap<Options> & object =>
  Record.getSomes(
    Record.map(
      declarations as Record.ReadonlyRecord<string, { readonly variable?: keyof VariableTypes }>,
      ({ variable }, field) => Option.fromNullable(variable && readers[variable](nameOf(field)))
    )
  ) as Config.Config.Wrap<Options> & object

/** Deno throws if its permissions don't include the variable. */
const isSet = (variable: string): boolean => {
  try {
    return globalThis.process?.env?.[variable] !== undefined
  } catch {
    return false
  }
}

/**
 * Leaves only the required declarations, and those whose variable is set in this process. Config could do this, too, but for a dozen
 * options it takes a tenth of the CPU time of a new client.
 */
export const withSetVariables = <O>(declarations: Declarations<O>): Partial<Declarations<O>> => {
  const found: Partial<Declarations<O>> = {}
  for (const name of Object.keys(declarations) as Array<keyof O & string>) {
    const { isRequired } = declarations[name]
    if (isRequired || isSet(variableOf(name))) found[name] = declarations[name]
  }
  return found
}

/** Calls `make` with the given options, and reads the others from variables. A ConfigurationError names the variable. */
export const makeFrom = <O extends object, A, R>(
  given: Partial<Config.Config.Wrap<O>>,
  declarations: Partial<Declarations<O>>,
  make: (options: O) => Effect.Effect<A, ConfigurationError, R>,
  nameOf = variableOf
): Effect.Effect<A, ConfigurationError | ConfigError.ConfigError, R> => {
  if (Config.isConfig(given)) return Effect.flatMap(given as Config.Config<O>, make)
  const set = Record.filter(given, Predicate.isNotUndefined)
  const config = Config.unwrap<O>({ ...variablesOf(declarations, nameOf), ...set })
  const named = (error: ConfigurationError, options: O) => {
    const isRead = !(error.field in set) && options[error.field as keyof O] !== undefined
    return isRead ? new ConfigurationError({ ...error, variable: nameOf(error.field) }) : error
  }
  return Effect.flatMap(config, (options) => Effect.mapError(make(options), (error) => named(error, options)))
}

/** Builds a layer in the same way. */
export const layerFrom = <O extends object, A, R>(
  given: Partial<Config.Config.Wrap<O>>,
  declarations: Declarations<O>,
  layer: (options: O) => Layer.Layer<A, ConfigurationError, R>,
  nameOf = variableOf
): Layer.Layer<A, ConfigurationError | ConfigError.ConfigError, R> =>
  Layer.scopedContext(makeFrom(given, declarations, (options) => Layer.build(layer(options)), nameOf))
