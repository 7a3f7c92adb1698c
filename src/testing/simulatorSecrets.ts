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

const number = "(?:\\d|%(?:25)*3\\d)+"

interface Hidden {
  readonly mark: "{key}" | "{token}" | "{id}"
  readonly text: string
  /** What stands for the text, if it is more than the text in any encoding. */
  readonly pattern?: string
}

/** The longest first: one secret may begin with another. */
const hiding = (secrets: ReadonlyArray<Hidden>) => {
  const sorted = secrets.filter(({ text }) => text !== "").sort((a, b) => b.text.length - a.text.length)
  const patterns = sorted.map(({ pattern, text }) => `(${pattern ?? patternOf(text)})`)
  const expression = new RegExp(patterns.join("|") || "(?!)", "gi")
  return (shown: string) =>
    shown.replace(
      expression,
      (...[, ...groups]) => sorted[groups.findIndex((group) => group !== undefined)]?.mark ?? ""
    )
}

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
  private idsHidden = -1
  private hideKnown = (text: string) => text
  private readonly ownToken: RegExp

  constructor(private readonly known: Known) {
    this.ownToken = new RegExp(`^${literal(known.series)}-\\d+-\\d+$`)
  }

  hidden(text: string, sent: SentSecrets): string {
    const token = sent.token.length > text.length || this.ownToken.test(sent.token) ? "" : sent.token
    const id = sent.id.length > text.length || this.known.customerIds.has(sent.id) ? "" : sent.id
    const shown = this.withoutKnown(text)
    return token === "" && id === ""
      ? shown
      : hiding([{ mark: "{token}", text: token }, { mark: "{id}", text: id }])(shown)
  }

  private withoutKnown(text: string): string {
    const { customerIds, licenseKeys, series } = this.known
    if (this.idsHidden !== customerIds.size) {
      this.idsHidden = customerIds.size
      this.hideKnown = hiding([
        ...Array.from(licenseKeys, (text) => ({ mark: "{key}" as const, text })),
        ...Array.from(customerIds, (text) => ({ mark: "{id}" as const, text })),
        { mark: "{token}", text: `${series}-1-1`, pattern: patternOf(`${series}-`) + number + patternOf("-") + number }
      ])
    }
    return this.hideKnown(text)
  }
}
