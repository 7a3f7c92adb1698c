import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Options } from "../../NutritionAdvisor.js"
import { ConfigurationError, isNutritionAdvisorError, LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as Environment from "../environment.js"
import * as Settings from "../settings.js"

type Key = string | Redacted.Redacted<string>

export type Given = Omit<Options, "licenseKey"> & { readonly licenseKey: Key | (() => Key | PromiseLike<Key>) }

/** A variable that is not set, in a program without types, becomes the text "undefined", which is refused as not set. */
const redacted = (key: Key) => Redacted.isRedacted(key) ? key : Redacted.make(String(key))

/** What the function throws may hold the key. */
const unavailable = (error: unknown) =>
  isNutritionAdvisorError(error) && error._tag === "LicenseKeyUnavailable"
    ? error
    : new LicenseKeyUnavailable({ detail: "the function of the key failed" })

const optionsOf = ({ licenseKey: key, ...others }: Given): Options => ({
  ...others,
  licenseKey: typeof key === "function"
    ? Effect.tryPromise({ try: async () => redacted(await key()), catch: unavailable })
    : redacted(key)
})

/** A program without Effect knows no ConfigError. That of a Config which is not ours may repeat the value. */
export const asConfigurationError = (error: unknown): unknown => {
  if (!ConfigError.isConfigError(error)) return error
  if (error._op === "And" || error._op === "Or") return asConfigurationError(error.left)
  const variable = error.path.join("_")
  const field = Object.keys(Environment.advisor()).find((field) => Environment.variableOf(field) === variable)
  const rule = error._op === "MissingData" ? "is not set" : field === undefined ? "is not accepted" : error.message
  return new ConfigurationError({ field: field ?? variable, rule, variable })
}

const withVariable = (error: ConfigurationError) =>
  new ConfigurationError({ ...error, variable: Environment.variableOf(error.field) })

const checked = (options: Options) => Effect.as(Settings.parseClient(options), options)

const fromVariables = () =>
  Config.unwrap<Options>(Environment.advisor()).pipe(
    Effect.mapError(asConfigurationError),
    Effect.flatMap((options) => Effect.mapError(checked(options), withVariable))
  )

/** The settings that are given, or those of the variables as they are now; or what is wrong with them. */
export const read = (given: Given | undefined) =>
  Effect.runSync(Effect.either(given === undefined ? fromVariables() : checked(optionsOf(given))))
