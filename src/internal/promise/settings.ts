import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Options } from "../../NutritionAdvisor.js"
import { type ConfigurationError, LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as Environment from "../environment.js"
import * as Settings from "../settings.js"

type Key = string | Redacted.Redacted<string>

/** The license key itself, or a function that is called at each exchange. */
export type LicenseKey = Key | (() => Key | PromiseLike<Key>)

const redacted = (key: Key) => Redacted.isRedacted(key) ? key : Redacted.make(key)

/** What a function throws may hold the key: only its own LicenseKeyUnavailable is kept. */
const unavailable = (error: unknown) =>
  error instanceof LicenseKeyUnavailable
    ? error
    : new LicenseKeyUnavailable({ detail: "the function that reads it failed" })

const effectOf = (key: LicenseKey): Options["licenseKey"] =>
  typeof key === "function"
    ? Effect.tryPromise({ try: async () => redacted(await key()), catch: unavailable })
    : redacted(key)

/** The settings that are given, or those of the variables as they are now. Nothing starts. */
export const read = (
  given: Omit<Options, "licenseKey"> & { readonly licenseKey: LicenseKey } | undefined
): Effect.Effect<Settings.ClientSettings, ConfigurationError> =>
  given === undefined
    ? Effect.withConfigProvider(
      Environment.read(Config.unwrap<Options>(Environment.advisor()), Settings.client),
      ConfigProvider.fromEnv()
    )
    : Settings.read(Settings.client, { ...given, licenseKey: effectOf(given.licenseKey) })
