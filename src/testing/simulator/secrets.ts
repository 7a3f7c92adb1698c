import * as Option from "effect/Option"

/** The secrets that a simulator knows. */
export interface KnownSecrets {
  readonly licenseKeys: ReadonlySet<string>
  readonly customerIds: ReadonlySet<string>
  /** The beginning of each token. The numbers of its key and of the token follow. */
  readonly series: string
}

/** Returns undefined if the text is not valid percent-encoding. */
export const percentDecoded = (text: string): string | undefined =>
  Option.getOrUndefined(Option.liftThrowable(decodeURIComponent)(text))

/** Each byte becomes a character, as in a server's path. Buffer would do this, but isn't available in every runtime. */
const latin1Of = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")

const bytesOfLatin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Removes percent-encoding, even if it was applied repeatedly. Each byte becomes a character, as in `latin1Of`. */
const fullyDecoded = (text: string): string => {
  const once = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return once === text ? text : fullyDecoded(once)
}

/** A space may be a plus sign in a query. */
const patternOf = (plain: string) => plain.replace(/[^\w ]/g, "\\$&").replaceAll(" ", "[ +]")

/**
 * Replaces each secret in a string with `{key}`, `{token}` or `{id}`, however it is encoded. `sent` contains the token and the identifier
 * in the headers of the request, which the simulator may not know. Each character of the text is a byte, as in a server's path. If it
 * contains a secret, the result is decoded text.
 */
export const withoutSecrets = (
  text: string,
  { customerIds, licenseKeys, series }: KnownSecrets,
  sent: { readonly token: string; readonly serviceId: string } = { token: "", serviceId: "" }
): string => {
  const plain = fullyDecoded(text)
  const secrets = [
    ...Array.from(licenseKeys, (secret) => ({ secret, mark: "{key}" })),
    ...Array.from([...customerIds, sent.serviceId], (secret) => ({ secret, mark: "{id}" })),
    { secret: sent.token, mark: "{token}" }
  ].map(({ mark, secret }) => ({ mark, secret: fullyDecoded(latin1Of(new TextEncoder().encode(secret))) }))
  // The longest first: one secret may begin with another.
  const findable = secrets
    .filter(({ secret }) => secret !== "" && secret.length <= plain.length)
    .sort((one, other) => other.secret.length - one.secret.length)
  const patterns = [
    ...findable.map(({ mark, secret }) => ({ mark, pattern: patternOf(secret) })),
    { mark: "{token}", pattern: `${patternOf(series)}-\\d+-\\d+` }
  ]
  const expression = new RegExp(patterns.map(({ pattern }) => `(${pattern})`).join("|"), "gi")
  const shown = plain.replace(
    expression,
    (...[, ...groups]) => patterns[groups.findIndex((group) => group !== undefined)]?.mark ?? ""
  )
  return shown === plain ? text : new TextDecoder().decode(bytesOfLatin1(shown))
}

/** Replaces each secret in a body, which stays as it is if it contains none. */
export const withoutSecretsInBytes = (bytes: Uint8Array, known: KnownSecrets): Uint8Array => {
  const text = latin1Of(bytes)
  const shown = withoutSecrets(text, known)
  return shown === text ? bytes : new TextEncoder().encode(shown)
}
