import * as Predicate from "effect/Predicate"
import type { Options } from "../../ai/FoodSearchTool.js"
import { pickFields } from "./fields.js"

export type JsonObject = Readonly<Record<string, unknown>>

interface MeasuredArray {
  readonly array: ReadonlyArray<unknown>
  /** The name of its field. */
  readonly name: string
  readonly bytes: number
  readonly elementBytes: ReadonlyArray<number>
}

const encoder = new TextEncoder()

/** Strings in ASCII aren't encoded, because that would take most of the time for a long payload. */
const bytesOf = (json: unknown): number => {
  const text = JSON.stringify(json)
  return /[^ -~]/.test(text) ? encoder.encode(text).length : text.length
}

const brackets = 2

const bytesOfField = (name: string, value: number): number => bytesOf(name) + 1 + value

const bytesOfParts = (parts: ReadonlyArray<number>): number =>
  brackets + parts.reduce((total, bytes) => total + bytes, 0) + Math.max(0, parts.length - 1)

/** Returns the size of a JSON value in bytes, and adds each array in it to `found`. */
const measure = (value: unknown, name: string, found: Array<MeasuredArray>): number => {
  if (typeof value !== "object" || value === null) return bytesOf(value)
  if (!Array.isArray(value)) {
    const fields = Object.entries(value).map(([key, member]) => bytesOfField(key, measure(member, key, found)))
    return bytesOfParts(fields)
  }
  const elementBytes = value.map((element, index) =>
    measure(element, Array.isArray(element) ? `${name}[${index}]` : name, found)
  )
  const bytes = bytesOfParts(elementBytes)
  found.push({ array: value, name, bytes, elementBytes })
  return bytes
}

const noteOf = (shown: number, { elementBytes, name }: MeasuredArray): string =>
  `The result is too long: ${shown} of ${elementBytes.length} elements of ${name} are shown. A narrower term finds fewer.`

/** Returns how many elements of an array fit into `maxBytes` if everything around the array takes `otherBytes`. */
const shownOf = (measured: MeasuredArray, otherBytes: number, maxBytes: number, note: typeof noteOf): number => {
  let shown = 0
  let bytes = otherBytes + brackets
  for (const element of measured.elementBytes) {
    bytes += element + (shown === 0 ? 0 : 1)
    if (bytes + bytesOfField("note", bytesOf(note(shown + 1, measured))) + 1 > maxBytes) break
    shown += 1
  }
  return shown
}

/**
 * Returns the JSON as an object. If that is too large, cuts the largest array of which at least one element fits, and adds a note. Returns
 * undefined if there is no such array.
 */
const cut = (json: unknown, maxBytes: number, given?: string): JsonObject | undefined => {
  const object = Predicate.isRecord(json) ? json : { result: json }
  const arrays: Array<MeasuredArray> = []
  const bytes = measure(object, "", arrays)
  if (given === undefined && bytes <= maxBytes) return object
  const hasNote = Object.hasOwn(object, "note")
  const whole = hasNote ? { result: object } : object
  const wholeBytes = hasNote ? brackets + bytesOfField("result", bytes) : bytes
  const noted = { note: given, ...whole }
  if (given !== undefined && bytesOf(noted) <= maxBytes) return noted
  const note: typeof noteOf = (shown, measured) => [given ?? [], noteOf(shown, measured)].flat().join(" ")
  for (const measured of arrays.sort((one, other) => other.bytes - one.bytes)) {
    const shown = shownOf(measured, wholeBytes - measured.bytes, maxBytes, note)
    if (shown === 0) continue
    const part = measured.array.slice(0, shown)
    const shortened = (_: string, value: unknown) => value === measured.array ? part : value
    return JSON.parse(JSON.stringify({ note: note(shown, measured), ...whole }, shortened))
  }
  return undefined
}

/**
 * Returns the payload as an object of at most `maxResultBytes` of JSON, with the note if one is given. Returns a sentence for the model if
 * that isn't possible.
 */
export const fit = (payload: unknown, options: Options = {}): JsonObject | string => {
  const { fields = [], maxResultBytes = 32 * 1024, note } = options
  try {
    // The result of a schema may not be JSON, and a payload may be nested too deeply for the stack.
    const json: unknown = JSON.parse(JSON.stringify(payload) ?? "null")
    const picked = fields.length === 0 ? json : pickFields(json, new Set(fields))
    return cut(picked, maxResultBytes, note) ??
      `The result has more than ${maxResultBytes} bytes, and cutting an array doesn't make it fit. Search with a narrower term.`
  } catch {
    return "The result can't be written as JSON. Search with another term."
  }
}
