import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import * as Url from "./url.js"

const longest = 200

const htmlEscaped = (secret: string) =>
  secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const forms = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  Url.encode(secret),
  Url.encode(secret).replaceAll("%20", "+"),
  htmlEscaped(secret),
  JSON.stringify(secret).slice(1, -1),
  Encoding.encodeBase64(secret).replace(/=+$/, ""),
  Encoding.encodeBase64Url(secret)
]

const jsonUnescaped = (text: string) =>
  text.replace(
    /\\(?:u([\da-f]{4})|(.))/gi,
    (_, code: string | undefined, char: string) =>
      code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16))
  )

/** A text may be JSON in JSON. */
const deeplyUnescaped = (text: string): string => {
  const unescaped = jsonUnescaped(text)
  return unescaped === text ? text : deeplyUnescaped(unescaped)
}

const percentDecoded = (text: string) =>
  text.replace(/(%[\da-f]{2})+/gi, (run) =>
    new TextDecoder().decode(
      Uint8Array.from(run.slice(1).split("%"), (code) => Number.parseInt(code, 16))
    ))

const base64Decoded = (text: string) =>
  text.replace(/[\w+/-]{8,}/g, (run) => {
    const standard = (run.length % 4 === 1 ? run.slice(0, -1) : run).replaceAll("-", "+").replaceAll("_", "/")
    return Either.getOrElse(
      Encoding.decodeBase64String(standard.padEnd(Math.ceil(standard.length / 4) * 4, "=")),
      () => run
    )
  })

/**
 * At most 200 characters of a text from outside, in one line, with every known form of the secrets taken out first. Where a
 * secret still shows after undoing escapes, nothing of the text is kept.
 */
export const scrub = (
  text: string,
  secrets: ReadonlyArray<Redacted.Redacted<string>>
): string | undefined => {
  const known = secrets.map(Redacted.value).filter((secret) => secret !== "")
  const clean = known
    .flatMap(forms)
    .sort((a, b) => b.length - a.length)
    .reduce((text, form) => text.replaceAll(form, "<redacted>"), text)
  const undone = [jsonUnescaped, deeplyUnescaped, percentDecoded, base64Decoded].flatMap((
    undo
  ) => [undo(clean), percentDecoded(undo(clean))])
  if (known.some((secret) => undone.some((text) => text.includes(secret)))) return undefined
  const line = Array.from(clean.replace(/[\s\p{Cc}]+/gu, " ").trim()).slice(0, longest).join("")
  return line === "" ? undefined : line
}
