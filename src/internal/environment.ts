import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ConfigurationError } from "../NutritionAdvisorError.js"
import * as Settings from "./settings.js"

/** The variable of each setting that has one. */
export const names = {
  baseUrl: "NUTRITION_ADVISOR_BASE_URL",
  licenseKey: "NUTRITION_ADVISOR_LICENSE_KEY",
  tokenRoute: "NUTRITION_ADVISOR_TOKEN_ROUTE",
  serviceId: "NUTRITION_ADVISOR_SERVICE_ID",
  serviceIdHeader: "NUTRITION_ADVISOR_SERVICE_ID_HEADER",
  tokenTimeout: "NUTRITION_ADVISOR_TOKEN_TIMEOUT",
  requestTimeout: "NUTRITION_ADVISOR_REQUEST_TIMEOUT",
  maxResponseBytes: "NUTRITION_ADVISOR_MAX_RESPONSE_BYTES",
  allowInsecureHttp: "NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP",
  userAgent: "NUTRITION_ADVISOR_USER_AGENT",
  observeHeaders: "NUTRITION_ADVISOR_OBSERVE_HEADERS",
  lease: "NUTRITION_ADVISOR_LEASE",
  cacheTimeout: "NUTRITION_ADVISOR_CACHE_TIMEOUT",
  connections: "NUTRITION_ADVISOR_CONNECTIONS",
  keepAliveTimeout: "NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT",
  connectTimeout: "NUTRITION_ADVISOR_CONNECT_TIMEOUT",
  headersTimeout: "NUTRITION_ADVISOR_HEADERS_TIMEOUT",
  bodyTimeout: "NUTRITION_ADVISOR_BODY_TIMEOUT",
  url: "NUTRITION_ADVISOR_REDIS_URL",
  prefix: "NUTRITION_ADVISOR_REDIS_PREFIX"
} as const

type Field = keyof typeof names

const isField = (field: string): field is Field => Object.hasOwn(names, field)

interface Form<A> {
  readonly expected: string
  readonly parse: (text: string) => Option.Option<A>
}

/** Undefined where the variable is not set. An error does not repeat the value: it may be a secret in the wrong place. */
export const optional = <A>(field: Field, { expected, parse }: Form<A>): Config.Config<A | undefined> =>
  Config.string(names[field]).pipe(
    Config.mapOrFail((text) =>
      Either.fromOption(parse(text), () => ConfigError.InvalidData([], `Expected ${expected}`))
    ),
    Config.option,
    Config.map(Option.getOrUndefined)
  )

/** A blank variable counts as one that is not set, as in a Compose file that passes on what it may not have. */
const unlessBlank = <A>(field: Field, { expected, parse }: Form<A>): Config.Config<A | undefined> =>
  optional<A | undefined>(field, {
    expected,
    parse: (text) => text.trim() === "" ? Option.some(undefined) : parse(text)
  })

export const text: Form<string> = { expected: "a text", parse: Option.some }

const redacted: Form<Redacted.Redacted<string>> = {
  expected: "a text",
  parse: (text) => Option.some(Redacted.make(text))
}

export const duration: Form<Duration.Duration> = {
  expected: "a duration with its unit, such as \"10 seconds\"",
  parse: (text) => Duration.decodeUnknown(text.trim())
}

export const wholeNumber: Form<number> = {
  expected: "a whole number",
  parse: (text) => /^[+-]?\d+$/.test(text.trim()) ? Option.some(Number(text)) : Option.none()
}

const flag: Form<boolean> = {
  expected: "true or false",
  parse: (text) => {
    const word = text.trim().toLowerCase()
    return ["true", "yes", "on", "1"].includes(word)
      ? Option.some(true)
      : ["false", "no", "off", "0"].includes(word)
      ? Option.some(false)
      : Option.none()
  }
}

const list: Form<ReadonlyArray<string>> = {
  expected: "names with commas between them",
  parse: (text) => Option.some(text.split(",").map((name) => name.trim()).filter((name) => name !== ""))
}

const route: Form<Settings.TokenRoute> = {
  expected: "advisor-licence, advisor-token, unified or a path that ends with /{key}",
  parse: Option.liftPredicate(Settings.isTokenRoute)
}

const forms: ReadonlyArray<Pick<Form<unknown>, "expected">> = [text, duration, wholeNumber, flag, list, route]

/** A variable that must be set: without it a sentence names it. */
const required = <A>(field: Field, { expected, parse }: Form<A>): Config.Config<A> =>
  Config.mapOrFail(optional(field, { expected, parse }), (value) =>
    value === undefined
      ? Either.left(ConfigError.MissingData([names[field]], `The variable ${names[field]} is not set.`))
      : Either.right(value))

/** What `layerConfig` of NutritionAdvisor reads. */
export const advisor = () => ({
  baseUrl: required("baseUrl", text),
  licenseKey: required("licenseKey", redacted),
  tokenRoute: unlessBlank("tokenRoute", route),
  serviceId: unlessBlank("serviceId", redacted),
  serviceIdHeader: unlessBlank("serviceIdHeader", text),
  tokenTimeout: unlessBlank("tokenTimeout", duration),
  requestTimeout: unlessBlank("requestTimeout", duration),
  maxResponseBytes: unlessBlank("maxResponseBytes", wholeNumber),
  allowInsecureHttp: unlessBlank("allowInsecureHttp", flag),
  userAgent: unlessBlank("userAgent", text),
  observeHeaders: unlessBlank("observeHeaders", list)
})

/** What `layerSharedConfig` reads. */
export const sharedAdvisor = () => ({
  ...advisor(),
  lease: unlessBlank("lease", duration),
  cacheTimeout: unlessBlank("cacheTimeout", duration)
})

/** Whether all settings are in one Config, which leaves nothing to be read beside it. */
const isWhole = <A>(given: Partial<Config.Config.Wrap<A>> | Config.Config<A>): given is Config.Config<A> =>
  Config.isConfig(given)

/** The name of the variable on an error about a setting that was read from one. */
const withVariable = (error: ConfigurationError, given: object, settings: object): ConfigurationError => {
  const { field, rule } = error
  const isRead = Object.entries(settings).some(([name, value]) => name === field && value !== undefined)
  return isRead && isField(field) && !Config.isConfig(given) && !(field in given)
    ? new ConfigurationError({ field, ...rule !== undefined && { rule }, variable: names[field] })
    : error
}

/** The layer of settings of which some are given, and the others are read from variables. */
export const layerFrom = <O extends object, A, R>(
  given: Partial<Config.Config.Wrap<O>>,
  variables: Config.Config.Wrap<O>,
  layer: (settings: O) => Layer.Layer<A, ConfigurationError, R>
): Layer.Layer<A, ConfigurationError | ConfigError.ConfigError, R> =>
  Layer.unwrapEffect(
    Effect.map(
      isWhole<O>(given) ? given : Config.unwrap<O>({ ...variables, ...given }),
      (settings) => Layer.mapError(layer(settings), (error) => withVariable(error, given, settings))
    )
  )

/** What a Config ended in, as the error of a setting. The message of one that is not of here may repeat the value. */
const errorOf = (error: ConfigError.ConfigError): ConfigurationError => {
  if (error._op === "And" || error._op === "Or") return errorOf(error.left)
  const variable = error.path.join("_")
  const [field = variable] = Object.entries(names).find(([, name]) => name === variable) ?? []
  const own = forms.find(({ expected }) => error.message.includes(`Expected ${expected}`))
  const isMissing = error._op === "MissingData"
  const rule = own ? `must be ${own.expected}` : isMissing ? "is not set" : "is not accepted"
  return new ConfigurationError({ field, rule, variable })
}

/** An error as it is, but one of Config as a ConfigurationError, which has a message. */
export const asConfigurationError = <E>(error: E): Exclude<E, ConfigError.ConfigError> | ConfigurationError =>
  ConfigError.isConfigError(error) ? errorOf(error) : error as Exclude<E, ConfigError.ConfigError>

/** The settings of variables, checked, where no layer is built of them. */
export const read = <O extends object, S>(
  settings: Config.Config<O>,
  check: (settings: O) => Settings.Checked<S>
): Effect.Effect<S, ConfigurationError> =>
  Effect.flatMap(
    Effect.mapError(settings, errorOf),
    (settings) => Effect.mapError(Settings.read(check, settings), (error) => withVariable(error, {}, settings))
  )
