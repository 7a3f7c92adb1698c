/** Markers instead of secrets, and how to find them in a string. */
import { Encoding } from "effect"
import * as Url from "../../../src/internal/http/url.js"

/** Each begins and ends with plain characters that only base64 changes, and holds what other encodings do change. */
export const key = "mk-K9marker/key?#%2F+ ü\"\\<&>'(*)!$&-tailKeyQ7"
export const token = "tok-T4marker/+=~\"\\%2F<&>-tailTokW8"
export const renewedToken = "ren-R5marker/+=~\"\\%2F<&>-tailRenX9"
export const customerId = "cid-C6marker /+\"\\%2F<&>-tailCidZ3"

/** The value of each option of a search. It has only plain characters, so that the service receives it unchanged. */
export const searchOption = "opt-S7marker-tailOptY4"

const all = { key, token, renewedToken, customerId, searchOption }

/** The ways in which a service may write a secret into its response. */
export const forms: ReadonlyArray<{ readonly name: string; readonly of: (secret: string) => string }> = [
  { name: "plain", of: (secret) => secret },
  { name: "percent-encoded", of: encodeURIComponent },
  { name: "percent-encoded with every reserved character", of: Url.encode },
  { name: "percent-encoded twice", of: (secret) => encodeURIComponent(encodeURIComponent(secret)) },
  { name: "form-encoded", of: (secret) => Url.encode(secret).replaceAll("%20", "+") },
  { name: "written by JSON.stringify", of: (secret) => JSON.stringify(secret).slice(1, -1) },
  { name: "in capitals", of: (secret) => secret.toUpperCase() },
  { name: "in lower case", of: (secret) => secret.toLowerCase() },
  { name: "base64", of: Encoding.encodeBase64 },
  { name: "base64url", of: Encoding.encodeBase64Url }
]

const needles = Object.entries(all).flatMap(([name, secret]) =>
  forms.flatMap(({ name: form, of }) => [
    { name: `the beginning of ${name}, ${form}`, text: of(secret).slice(0, 11) },
    { name: `the end of ${name}, ${form}`, text: of(secret).slice(-10) }
  ])
)

/** The name of a secret that a string contains, whole or in part. */
export const shownIn = (text: string): string | undefined => needles.find((needle) => text.includes(needle.text))?.name
