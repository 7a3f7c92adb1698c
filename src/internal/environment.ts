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
import { ConfigurationError } from "../NutritionAdvisorError.js"
import type { ExchangeOptions } from "./settings.js"

export const variableOf = (field: string) =>
  `NUTRITION_ADVISOR_${field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

/** Reads a variable; undefined if it is blank or not set. Errors don't repeat the value, because it may be a misplaced secret. */
const optional = <A>(field: string, expected: string, parse: (text: string) => Option.Option<A>) =>
  Config.string(variableOf(field)).pipe(
    Config.mapOrFail((text): Either.Either<A | undefined, ConfigError.ConfigError> =>
      text.trim() === ""
        ? Either.right(undefined)
        : Either.fromOption(parse(text.trim()), () => ConfigError.InvalidData([], `must be ${expected}`))
    ),
    Config.option,
    Config.map(Option.getOrUndefined)
  )

const text = (field: string) => optional(field, "a text", Option.some)

export const duration = (field: string) =>
  optional(field, "a duration with its unit, such as \"10 seconds\"", Duration.decodeUnknown)

export const wholeNumber = (field: string) =>
  optional(field, "a whole number", (text) => /^[+-]?\d+$/.test(text) ? Option.some(Number(text)) : Option.none())

const flags = new Map(
  Object.entries({ true: true, yes: true, on: true, 1: true, false: false, no: false, off: false, 0: false })
)

const flag = (field: string) =>
  optional(field, "true or false", (text) => Option.fromNullable(flags.get(text.toLowerCase())))

/** The variables that `NutritionAdvisor.layerConfig` reads. `Config.redacted` would not report which variable is missing. */
export const advisor = () => ({
  baseUrl: Config.string(variableOf("baseUrl")),
  licenseKey: Config.map(Config.string(variableOf("licenseKey")), (key) => Redacted.make(key)),
  tokenRoute: Config.map(text("tokenRoute"), (route) => route as ExchangeOptions["tokenRoute"]),
  serviceId: Config.map(text("serviceId"), (id) => id === undefined ? undefined : Redacted.make(id)),
  serviceIdHeader: text("serviceIdHeader"),
  tokenTimeout: duration("tokenTimeout"),
  requestTimeout: duration("requestTimeout"),
  maxResponseBytes: wholeNumber("maxResponseBytes"),
  allowInsecureHttp: flag("allowInsecureHttp"),
  userAgent: text("userAgent"),
  observeHeaders: optional(
    "observeHeaders",
    "names with commas between them",
    (text) => Option.some(text.split(",").map((name) => name.trim()).filter((name) => name !== ""))
  )
})

/** The variables that `NutritionAdvisor.layerSharedConfig` reads. */
export const sharedAdvisor = () => ({ ...advisor(), lease: duration("lease"), cacheTimeout: duration("cacheTimeout") })

export const redisVariableOf = (field: string): string => variableOf(`redis_${field}`)

/** The variables that `RedisTokenCache.layerConfig` reads. */
export const redis = () => ({
  url: Config.map(Config.string(redisVariableOf("url")), (url) => Redacted.make(url)),
  prefix: text("redis_prefix")
})

/** Calls `make` with the given settings, and reads the others from variables. A ConfigurationError names the variable. */
export const makeFrom = <O extends object, A, R>(
  given: Partial<Config.Config.Wrap<O>>,
  variables: Config.Config.Wrap<O>,
  make: (settings: O) => Effect.Effect<A, ConfigurationError, R>,
  nameOf = variableOf
): Effect.Effect<A, ConfigurationError | ConfigError.ConfigError, R> => {
  const set = Record.filter(given, Predicate.isNotUndefined)
  const config = Config.isConfig(given) ? given as Config.Config<O> : Config.unwrap<O>({ ...variables, ...set })
  const named = (error: ConfigurationError, settings: O) => {
    const isSet = Object.entries(settings).some(([field, value]) => field === error.field && value !== undefined)
    const isRead = isSet && !Config.isConfig(given) && !(error.field in set)
    return isRead ? new ConfigurationError({ ...error, variable: nameOf(error.field) }) : error
  }
  return Effect.flatMap(config, (settings) => Effect.mapError(make(settings), (error) => named(error, settings)))
}

/** Builds a layer in the same way. */
export const layerFrom = <O extends object, A, R>(
  given: Partial<Config.Config.Wrap<O>>,
  variables: Config.Config.Wrap<O>,
  layer: (settings: O) => Layer.Layer<A, ConfigurationError, R>,
  nameOf = variableOf
): Layer.Layer<A, ConfigurationError | ConfigError.ConfigError, R> =>
  Layer.scopedContext(makeFrom(given, variables, (settings) => Layer.build(layer(settings)), nameOf))

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
  const fieldOf = (variable: string) => Object.keys(advisor()).find((field) => variableOf(field) === variable)
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
