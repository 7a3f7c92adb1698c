const literal = (text: string) => text.replace(/[^\w ]/g, "\\$&")

const encodedByte = (byte: number) => `%(?:25)*${byte.toString(16).padStart(2, "0")}`

const encoder = new TextEncoder()

/** The bytes of a character, each as it is or percent-encoded, once or more often; in a query a plus is a space. */
const inAnyEncoding = (character: string): string => {
  const bytes = Array.from(
    encoder.encode(character),
    (byte) => `(?:${literal(String.fromCharCode(byte))}|${encodedByte(byte)})`
  )
  return `(?:${literal(character)}|${bytes.join("")}${character === " " ? "|\\+" : ""})`
}

const patternOf = (text: string) => Array.from(text, inAnyEncoding).join("")

/** The longest first: one secret may begin with another. */
const anyOf = (texts: Iterable<string>) =>
  [...texts].filter((text) => text !== "").sort((a, b) => b.length - a.length).map(patternOf).join("|")

const number = "(?:\\d|%(?:25)*3\\d)+"

const expression = (groups: Readonly<Record<"key" | "token" | "id", string>>) =>
  new RegExp(
    Object.entries(groups).flatMap(([name, pattern]) => pattern === "" ? [] : [`(?<${name}>${pattern})`]).join("|"),
    "gi"
  )

const withMarks = (text: string, secrets: RegExp) =>
  text.replace(secrets, (...found) => {
    const [name = ""] = Object.entries(found.at(-1)).find(([, matched]) => matched !== undefined) ?? []
    return `{${name}}`
  })

interface Known {
  readonly licenseKeys: ReadonlySet<string>
  readonly customerIds: ReadonlySet<string>
  /** What each token begins with, before its two numbers. */
  readonly series: string
}

/** The two secrets that came in the headers of a request; the simulator may know neither. */
export interface SentSecrets {
  readonly token: string
  readonly id: string
}

/** Texts with the secrets of a simulator hidden: `{key}`, `{token}` or `{id}` shows in place of each. */
export class SimulatorSecrets {
  private idsWritten = -1
  private known = /(?!)/g
  private readonly ownToken: RegExp

  constructor(private readonly secrets: Known) {
    this.ownToken = new RegExp(`^${literal(secrets.series)}-\\d+-\\d+$`)
  }

  hidden(text: string, sent: SentSecrets): string {
    const shown = withMarks(text, this.ofSimulator())
    const token = sent.token.length > text.length || this.ownToken.test(sent.token) ? "" : patternOf(sent.token)
    const id = sent.id.length > text.length || this.secrets.customerIds.has(sent.id) ? "" : patternOf(sent.id)
    return token === "" && id === "" ? shown : withMarks(shown, expression({ key: "", token, id }))
  }

  private ofSimulator(): RegExp {
    const { customerIds, licenseKeys, series } = this.secrets
    if (this.idsWritten !== customerIds.size) {
      this.idsWritten = customerIds.size
      this.known = expression({
        key: anyOf(licenseKeys),
        token: patternOf(`${series}-`) + number + patternOf("-") + number,
        id: anyOf(customerIds)
      })
    }
    return this.known
  }
}
