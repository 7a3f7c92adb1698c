import * as Redacted from "effect/Redacted"

/**
 * Wraps the value of an option, unless it is wrapped already. In a program without types, the license key may be undefined. It becomes the
 * string "undefined", which is rejected as not set.
 */
export const redactedText = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(String(secret))
