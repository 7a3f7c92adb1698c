import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { camelToSnake } from "effect/String"
import { ConfigurationError } from "../../NutritionAdvisorError.js"
import type { Declarations } from "./declarations.js"
import { readers } from "./variables.js"

export const variableOf = (field: string) => `NUTRITION_ADVISOR_${camelToSnake(field).toUpperCase()}`

export const namesWithVariable = (declarations: object): ReadonlyArray<string> =>
  Object.entries(declarations).flatMap(([name, declaration]) => "variable" in declaration ? [name] : [])

const variablesOf = <Options>(
  declarations: Partial<Declarations<Options>>,
  nameOf: (field: string) => string
): Config.Config.Wrap<Options> & object =>
  Record.getSomes(
    Record.map(
      declarations as Record.ReadonlyRecord<string, { readonly variable?: keyof typeof readers }>,
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
 * Returns the declarations to read variables for: the required ones, and those whose variable is set in this process. Config would also skip
 * the others, but that would take a tenth of the CPU time of a new client.
 */
export const declarationsToRead = <O>(declarations: Declarations<O>): Partial<Declarations<O>> => {
  const found: Partial<Declarations<O>> = {}
  for (const name of Object.keys(declarations) as Array<keyof O & string>) {
    const { isRequired } = declarations[name]
    if (isRequired || isSet(variableOf(name))) found[name] = declarations[name]
  }
  return found
}

/**
 * One Config of all options, or a record with a Config for each one. `Partial` of a Wrap alone would reject undefined in programs with
 * `exactOptionalPropertyTypes`. Public signatures repeat this type, because declarations of programs would import this internal file.
 */
export type ConfigOptions<O> =
  | Partial<Config.Config.Wrap<O>>
  | { readonly [K in keyof O]?: Config.Config.Wrap<O[K]> | undefined }

/** Calls `make` with the given options, and reads the others from variables. A ConfigurationError names the variable. */
export const makeFromConfig = <O extends object, A, R>(
  given: ConfigOptions<O>,
  declarations: Partial<Declarations<O>>,
  make: (options: O) => Effect.Effect<A, ConfigurationError, R>,
  nameOf = variableOf
): Effect.Effect<A, ConfigurationError | ConfigError.ConfigError, R> => {
  // The type also allows one Config of all options.
  if (Config.isConfig(given)) return Effect.flatMap(given as Config.Config<O>, make)
  const all: Readonly<Record<string, unknown>> = given
  const set = Record.filter(all, Predicate.isNotUndefined)
  const config = Config.unwrap<O>({ ...variablesOf(declarations, nameOf), ...set })
  const withVariable = (error: ConfigurationError, options: O) => {
    const isRead = !(error.field in set) && options[error.field as keyof O] !== undefined
    return isRead ? new ConfigurationError({ ...error, variable: nameOf(error.field) }) : error
  }
  return Effect.flatMap(config, (options) => Effect.mapError(make(options), (error) => withVariable(error, options)))
}

export const layerFromConfig = <O extends object, A, R>(
  given: ConfigOptions<O>,
  declarations: Declarations<O>,
  layer: (options: O) => Layer.Layer<A, ConfigurationError, R>,
  nameOf = variableOf
): Layer.Layer<A, ConfigurationError | ConfigError.ConfigError, R> =>
  Layer.scopedContext(makeFromConfig(given, declarations, (options) => Layer.build(layer(options)), nameOf))
