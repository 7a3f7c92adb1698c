import type * as Redacted from "effect/Redacted"
import { repeatsSecret } from "../http/repeatsSecret.js"
import type { Response } from "../http/response.js"

/** In characters of one header. */
const longestValue = 256

/** The headers of an answer that errors and spans may show. One that repeats a secret is left out. */
export const observe = (
  names: ReadonlyArray<string>,
  { headers }: Response,
  secrets: ReadonlyArray<Redacted.Redacted<string>>
): Readonly<Record<string, string>> => {
  const shown = names.flatMap((name) => {
    const text = [headers[name] ?? []].flat().join(", ")
    return text === "" || repeatsSecret(text, secrets) ? [] : [[name, text.slice(0, longestValue)]]
  })
  return Object.fromEntries(shown)
}
