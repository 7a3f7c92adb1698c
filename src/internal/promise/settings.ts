import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Options } from "../../NutritionAdvisor.js"
import { isNutritionAdvisorError, LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
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

const checked = (options: Options) => Effect.as(Settings.parseClient(options), options)

const ofVariables = () => Environment.makeFrom({}, Environment.advisor(), checked)

/** The settings that are given, or those of the variables as they are now. Throws what is wrong with them, with a stack that names the caller. */
export const read = (given: Given | undefined): Options => {
  const options = given === undefined ? ofVariables() : checked(optionsOf(given))
  return Either.getOrThrowWith(Effect.runSync(Effect.either(options)), (thrown) => {
    const error = Environment.asConfigurationError(thrown)
    if (error instanceof Error) Error.captureStackTrace(error, read)
    return error
  })
}
