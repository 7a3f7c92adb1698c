import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LicenseKeyUnavailable } from "../NutritionAdvisorError.js"
import * as Configuration from "./configuration.js"

/** The key itself, or an effect that is run at each exchange. */
export type LicenseKey = Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable>

/** A key that was given is judged when the layer is built, an effect when it is read. */
export const check = (licenseKey: LicenseKey) =>
  Effect.isEffect(licenseKey) ? Effect.succeed(licenseKey) : Configuration.licenseKey(licenseKey)

export const read = (licenseKey: LicenseKey): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.filterOrFail(
    Redacted.isRedacted(licenseKey) ? Effect.succeed(licenseKey) : licenseKey,
    (key) => Redacted.isRedacted(key) && Configuration.isLicenseKey(Redacted.value(key)),
    () => new LicenseKeyUnavailable({ detail: "what was read can't be a license key" })
  )
