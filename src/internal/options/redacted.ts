import * as Redacted from "effect/Redacted"

/** Wraps a secret, unless it is wrapped already. Programs without types may pass another value, which becomes a string. */
export const redacted = (secret: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(String(secret))
