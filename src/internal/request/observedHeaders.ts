import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import type { Response } from "../http/response.js"

/** In characters of one header. */
const longestValue = 256

/** Percent-encoded characters as they are, whichever of them were encoded. */
const decoded = (text: string) =>
  text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The headers of an answer that errors and spans may show. One that repeats a token or its identifier is left out. */
export const observe = (
  names: ReadonlyArray<string>,
  { headers }: Response,
  tokens: ReadonlyArray<AccessToken>
): Readonly<Record<string, string>> => {
  const secrets = tokens.flatMap(({ serviceId, value }) =>
    [value, serviceId].map((secret) => Redacted.value(secret).toLowerCase())
  )
  const shown = names.flatMap((name) => {
    const text = [headers[name] ?? []].flat().join(", ")
    const forms = [text, decoded(text)].map((form) => form.toLowerCase())
    return text === "" || secrets.some((secret) => forms.some((form) => form.includes(secret)))
      ? []
      : [[name, text.slice(0, longestValue)]]
  })
  return Object.fromEntries(shown)
}
