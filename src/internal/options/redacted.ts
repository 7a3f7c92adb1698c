import * as Redacted from "effect/Redacted"

/**
 * Wraps a secret, unless it is wrapped already. In a program without types, an option may be undefined. It becomes the string "undefined",
 * which the checks of `licenseKey` and `serviceId` reject.
 */
export const redactedText = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(String(secret))
