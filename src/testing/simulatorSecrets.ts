/** The secrets that a simulator knows. */
interface Known {
  readonly licenseKeys: ReadonlySet<string>
  readonly customerIds: ReadonlySet<string>
  /** What each token begins with, before the numbers of its key and its own. */
  readonly series: string
}

/** Decodes percent-encoding as often as there is any. Each byte is a character, as a server reads a path. */
const decoded = (text: string): string => {
  const once = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return once === text ? text : decoded(once)
}

/** A plus in a query is a space. */
const patternOf = (plain: string) => plain.replace(/[^\w ]/g, "\\$&").replaceAll(" ", "[ +]")

/**
 * Replaces each secret in a string with `{key}`, `{token}` or `{id}`, however it is encoded. `sent` are the token and the identifier
 * from the headers of a request, which the simulator may not know.
 */
export const hidden = (
  text: string,
  { customerIds, licenseKeys, series }: Known,
  sent: { readonly token: string; readonly id: string }
): string => {
  const plain = decoded(text)
  const marked = [
    ...Array.from(licenseKeys, (secret) => ({ secret, mark: "{key}" })),
    ...Array.from([...customerIds, sent.id], (secret) => ({ secret, mark: "{id}" })),
    { secret: sent.token, mark: "{token}" }
  ]
    .map(({ mark, secret }) => ({ mark, secret: decoded(Buffer.from(secret).toString("latin1")) }))
    .filter(({ secret }) => secret !== "" && secret.length <= plain.length)
    // The longest first: one secret may begin with another.
    .sort((one, other) => other.secret.length - one.secret.length)
    .map(({ mark, secret }) => ({ mark, pattern: patternOf(secret) }))
    .concat({ mark: "{token}", pattern: `${patternOf(series)}-\\d+-\\d+` })
  const expression = new RegExp(marked.map(({ pattern }) => `(${pattern})`).join("|"), "gi")
  const shown = plain.replace(
    expression,
    (...[, ...groups]) => marked[groups.findIndex((group) => group !== undefined)]?.mark ?? ""
  )
  return shown === plain ? text : Buffer.from(shown, "latin1").toString()
}
