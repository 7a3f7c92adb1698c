import * as Redacted from "effect/Redacted"

/**
 * Wraps a secret, unless it is wrapped already. A caller in JavaScript may pass undefined, which becomes the string "undefined". The checks
 * of `licenseKey` and `serviceId` reject that.
 */
export const redactedText = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(String(secret))
