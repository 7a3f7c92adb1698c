import { Encoding } from "effect"

type Encode = (text: string) => string

const characters = (text: string, write: (character: string) => string) => Array.from(text, write).join("")

const units = (text: string, write: (unit: number) => string) =>
  Array.from({ length: text.length }, (_, index) => write(text.charCodeAt(index))).join("")

const bytes = (text: string, write: (byte: number) => string) =>
  Array.from(new TextEncoder().encode(text), write).join("")

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0")

const codePoint = (character: string) => character.codePointAt(0) ?? 0

const names: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&apos;",
  "/": "&sol;",
  "=": "&equals;",
  "+": "&plus;"
}

const withoutLoneSurrogates = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text))

const percent: Encode = (text) => encodeURIComponent(withoutLoneSurrogates(text))

/** The ways in which a service, a template or a proxy may write a text, each by what it is called. */
export const encodings: Readonly<Record<string, Encode>> = {
  "decimal entities": (text) => characters(text, (character) => `&#${codePoint(character)};`),
  "hex entities": (text) => characters(text, (character) => `&#x${hex(codePoint(character), 1)};`),
  "named entities": (text) => characters(text, (character) => names[character] ?? character),
  "UTF-16, little end first": (text) => units(text, (unit) => String.fromCharCode(unit & 0xff, unit >> 8)),
  "UTF-16, big end first": (text) => units(text, (unit) => String.fromCharCode(unit >> 8, unit & 0xff)),
  base64: Encoding.encodeBase64,
  base64url: Encoding.encodeBase64Url,
  "base64 twice": (text) => Encoding.encodeBase64(Encoding.encodeBase64(text)),
  "percent once": percent,
  "percent twice": (text) => percent(percent(text)),
  "percent three times": (text) => percent(percent(percent(text))),
  "percent in every byte": (text) => bytes(text, (byte) => `%${hex(byte, 2)}`),
  "\\x": (text) => bytes(text, (byte) => `\\x${hex(byte, 2)}`),
  "\\u": (text) => units(text, (unit) => `\\u${hex(unit, 4)}`),
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  hex: Encoding.encodeHex,
  "quoted-printable": (text) => bytes(text, (byte) => `=${hex(byte, 2).toUpperCase()}`),
  "upper case": (text) => text.toUpperCase(),
  "lower case": (text) => text.toLowerCase(),
  "wrapped lines": (text) => text.replace(/.{8}/gsu, "$&\r\n"),
  "zero-width characters": (text) => characters(text, (character) => `${character}\u200b`),
  "stripped padding": (text) => text.replace(/=+$/, "")
}
