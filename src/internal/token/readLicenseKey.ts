import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { LicenseKeyUnavailable } from "../../NutritionAdvisorError.js"
import { checkLicenseKey } from "../settings/licenseKey.js"
import type { LicenseKeySource } from "../settings/settings.js"

/**
 * The license key that a wrapping issuer has already read, so that the wrapped issuer uses the same one even if the key is rotated in the
 * meantime.
 */
export class LicenseKey
  extends Context.Tag("effect-nutrition-advisor/internal/LicenseKey")<LicenseKey, Redacted.Redacted<string>>()
{}

/** Returns the license key. If the option is an Effect, runs it and checks the result. A plain value was checked with the options. */
export const readLicenseKey = (
  licenseKey: LicenseKeySource
): Effect.Effect<Redacted.Redacted<string>, LicenseKeyUnavailable> =>
  Effect.gen(function*() {
    const alreadyRead = yield* Effect.serviceOption(LicenseKey)
    if (Option.isSome(alreadyRead)) return alreadyRead.value
    if (Redacted.isRedacted(licenseKey)) return licenseKey
    const key = yield* licenseKey
    yield* Effect.mapError(
      checkLicenseKey(key),
      ({ rule }) => new LicenseKeyUnavailable({ detail: `the value ${rule}` })
    )
    return key
  })
