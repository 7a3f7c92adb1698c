import { Encoding } from "effect"

/** Each begins and ends with plain letters that no encoding changes, and holds what encodings do change. */
export const key = "mk-K9marker/key?#%2F+ ü\"\\<&>'(*)!-tailKeyQ7"
export const rotatedKey = "rk-L3marker/key?#% ü\"\\<&>-tailRotV5"
export const token = "tok-T4marker/+=~\"\\%2F<&>-tailTokW8"
export const renewedToken = "ren-R5marker/+=~\"\\%2F<&>-tailRenX9"
export const customerId = "cid-C6marker /+\"\\%2F<&>-tailCidZ3"

const all = { key, rotatedKey, token, renewedToken, customerId }

const percent = (code: number) => `%${code.toString(16).toUpperCase().padStart(2, "0")}`

export const withReserved = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => percent(char.charCodeAt(0)))

const inLowerCase = (text: string) => withReserved(text).replace(/%../g, (escape) => escape.toLowerCase())

const inEveryByte = (text: string) => Array.from(new TextEncoder().encode(text), percent).join("")

const escapedInEveryCharacter = (text: string) =>
  Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`)
    .join("")

const htmlEscaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

export interface Form {
  readonly name: string
  readonly of: (secret: string) => string
}

export const plain: Form = { name: "plain", of: (secret) => secret }

/** The ways in which a service may write a secret into its answer. */
export const forms: ReadonlyArray<Form> = [
  plain,
  { name: "percent-encoded", of: encodeURIComponent },
  { name: "percent-encoded with every reserved character", of: withReserved },
  { name: "percent-encoded in lower case", of: inLowerCase },
  { name: "percent-encoded in every byte", of: inEveryByte },
  { name: "percent-encoded twice", of: (secret) => encodeURIComponent(encodeURIComponent(secret)) },
  { name: "form-encoded", of: (secret) => withReserved(secret).replaceAll("%20", "+") },
  { name: "written by JSON.stringify", of: (secret) => JSON.stringify(secret).slice(1, -1) },
  { name: "JSON-escaped in every character", of: escapedInEveryCharacter },
  { name: "HTML-escaped", of: htmlEscaped },
  { name: "base64", of: Encoding.encodeBase64 },
  { name: "base64url", of: Encoding.encodeBase64Url },
  { name: "base64 behind a user name", of: (secret) => Encoding.encodeBase64(`user:${secret}`) }
]

interface Needle {
  readonly name: string
  readonly text: string
}

const piece = 12

const withSingleBackslashes = (text: string) => text.replace(/\\+/g, "\\")

/** A base64 text behind one and two other bytes has no character in common with the one that stands alone. */
const shifted = (secret: string): ReadonlyArray<string> =>
  [Encoding.encodeBase64, Encoding.encodeBase64Url].flatMap((encode) =>
    [1, 2].map((bytes) => encode("\n".repeat(bytes) + secret).slice(4, -4))
  )

const needlesOf = ([name, secret]: readonly [string, string]): ReadonlyArray<Needle> =>
  [
    ...forms.map((form) => [form.name, form.of(secret)] as const),
    ...shifted(secret).map((text) => ["base64 behind something else", text] as const)
  ].flatMap(([form, text]) => [
    { name: `the beginning of ${name}, ${form}`, text: withSingleBackslashes(text).slice(0, piece) },
    { name: `the end of ${name}, ${form}`, text: withSingleBackslashes(text).slice(-piece) }
  ])

const needles: ReadonlyArray<Needle> = [
  ...new Map(Object.entries(all).flatMap(needlesOf).map((needle) => [needle.text, needle])).values()
]

const anyNeedle = new RegExp(needles.map(({ text }) => text.replace(/[^a-z0-9]/gi, "\\$&")).join("|"))

/** The secrets that show in a text, in whole or in part; escapes of escapes count as escapes. */
export const shownIn = (text: string): ReadonlyArray<string> => {
  const searched = withSingleBackslashes(text)
  if (!anyNeedle.test(searched)) return []
  return needles.filter((needle) => searched.includes(needle.text)).map(({ name }) => name)
}
