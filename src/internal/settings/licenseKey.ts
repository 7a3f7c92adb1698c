import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Url from "../http/url.js"
import { check, type Checked } from "../options/check.js"
import { isPlaceholder, paddingRules, placeholderRule } from "./placeholder.js"
import type { LicenseKeySource } from "./settings.js"

/** Control and format characters, and any space except U+0020. Copied keys may contain them. */
const invisible = /(?! )[\p{Cc}\p{Cf}\p{Z}]/u

/** Checks that a license key can be percent-encoded as one path segment, and is not a placeholder. */
export const checkLicenseKey = (secret: Redacted.Redacted<string>): Checked<void> => {
  const key = String(Redacted.value(secret))
  const isSegment = Url.isWellFormed(key) && !invisible.test(key) && !Url.isDotSegment(key)
  return check(
    "licenseKey",
    [key.trim() !== "", "is blank"],
    [key !== "undefined", "is not set"],
    ...paddingRules(key),
    [!/^\{\s*"/.test(key), "is JSON: use the field that contains the key"],
    [isSegment, "contains an invisible character, or one that a URL path segment can't have"],
    [!isPlaceholder(key), placeholderRule]
  )
}

export const parseLicenseKey = (licenseKey: LicenseKeySource, field: string) => {
  const checked = Redacted.isRedacted(licenseKey)
    ? checkLicenseKey(licenseKey)
    : check(field, [Effect.isEffect(licenseKey), "must be a Redacted or an Effect that returns one"])
  return Either.map(checked, () => licenseKey)
}
