import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as Settings from "../settings.js"

/** The key that an issuer around this one has read: both must use the same one, even if it is rotated in between. */
export class LicenseKey extends Context.Reference<LicenseKey>()("effect-nutrition-advisor/internal/LicenseKey", {
  defaultValue: (): Redacted.Redacted<string> | undefined => undefined
}) {}

const readSetting = (
  licenseKey: Settings.ExchangeOptions["licenseKey"]
): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Redacted.isRedacted(licenseKey)
    ? Effect.succeed(licenseKey)
    : Effect.tap(licenseKey, (key) =>
      Effect.mapError(
        Settings.checkLicenseKey(key),
        ({ rule }) => new LicenseKeyUnavailable({ detail: `what was read ${rule}` })
      ))

/** The key. The effect of a setting is run, and what it read is checked; a key that is given was checked as a setting. */
export const readLicenseKey = (
  licenseKey: Settings.ExchangeOptions["licenseKey"]
): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.flatMap(LicenseKey, (key) => key === undefined ? readSetting(licenseKey) : Effect.succeed(key))
