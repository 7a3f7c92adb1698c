import * as Redacted from "effect/Redacted"

const encoder = new TextEncoder()

/** Its bytes, each as a character, so that those that were percent-encoded compare with those that were not. */
const bytesOf = (text: string) => Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("")

const decoded = (bytes: string) =>
  bytes.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** Whether a text of the service's holds one of these secrets, as it is or percent-encoded: it is shown nowhere then. */
export const repeatsSecret = (text: string, secrets: ReadonlyArray<Redacted.Redacted<string>>): boolean => {
  const bytes = bytesOf(text)
  const forms = [bytes, decoded(bytes)].map((form) => form.toLowerCase())
  return secrets.some((secret) => forms.some((form) => form.includes(bytesOf(Redacted.value(secret)).toLowerCase())))
}
