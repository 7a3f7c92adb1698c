import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import * as ForeignPart from "../foreignPart.js"
import * as Settings from "../settings.js"

type LicenseKey = Settings.LicenseKey

/** What an effect without types fails with may hold the key. */
const unavailable = (error: unknown) =>
  error instanceof LicenseKeyUnavailable
    ? error
    : new LicenseKeyUnavailable({ detail: "the effect that reads it failed with another error" })

const ofEffect = (licenseKey: Exclude<LicenseKey, Redacted.Redacted<string>>) =>
  ForeignPart.callApart(
    "The effect that reads the license key",
    () => true,
    () => Effect.mapError(licenseKey, unavailable)
  )

/** The key, checked: the effect of a setting is run. */
export const read = (licenseKey: LicenseKey): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.flatMap(Redacted.isRedacted(licenseKey) ? Effect.succeed(licenseKey) : ofEffect(licenseKey), (key) => {
    const rule = Settings.brokenKeyRule(key)
    return rule === undefined
      ? Effect.succeed(key)
      : Effect.fail(new LicenseKeyUnavailable({ detail: `what was read ${rule}` }))
  })
