import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as Settings from "../settings.js"

/** The key, checked each time: the effect of a setting is run. */
export const readLicenseKey = (
  licenseKey: Settings.ExchangeOptions["licenseKey"]
): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.tap(Redacted.isRedacted(licenseKey) ? Effect.succeed(licenseKey) : licenseKey, (key) =>
    Effect.mapError(
      Settings.checkLicenseKey(key),
      ({ rule }) => new LicenseKeyUnavailable({ detail: `what was read ${rule}` })
    ))
