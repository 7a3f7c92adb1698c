import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { Settings } from "./searchFoodsTool.js"

type JsonObject = Readonly<Record<string, unknown>>

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holdsObjects) : Predicate.isRecord(value)

/**
 * Keeps only these fields in objects that are in arrays. Such an object is a food if it has some of the fields. Any other object is searched
 * for foods, because it may be a group or a wrapper such as `{ score, food: { ... } }`. Everything outside of arrays is kept.
 */
const pickFields = (json: unknown, fields: ReadonlySet<string>, isInArray = false): unknown => {
  if (Array.isArray(json)) return json.map((element) => pickFields(element, fields, true))
  if (!Predicate.isRecord(json)) return json
  const entries = Object.entries(json)
  const kept = isInArray ? entries.filter(([name]) => fields.has(name)) : []
  if (kept.length > 0) return Object.fromEntries(kept)
  const searched = isInArray ? entries.filter(([, value]) => holdsObjects(value)) : entries
  return Object.fromEntries(searched.map(([name, value]) => [name, pickFields(value, fields, isInArray)]))
}

interface MeasuredArray {
  readonly array: ReadonlyArray<unknown>
  /** The name of its field. */
  readonly name: string
  readonly bytes: number
  readonly elementBytes: ReadonlyArray<number>
}

const encoder = new TextEncoder()

/** Strings in ASCII aren't encoded, because that would take most of the time for a long payload. */
const sizeOf = (json: unknown): number => {
  const text = JSON.stringify(json)
  return /[^ -~]/.test(text) ? encoder.encode(text).length : text.length
}

/** Returns the size of an array or object with its brackets and commas. */
const sizeOfParts = (parts: ReadonlyArray<number>): number =>
  2 + Math.max(0, parts.length - 1) + parts.reduce((total, bytes) => total + bytes, 0)

/** Returns the size of a JSON value in bytes, and adds each array in it to `found`. */
const measure = (value: unknown, name: string, found: Array<MeasuredArray>): number => {
  if (Predicate.isRecord(value)) {
    return sizeOfParts(Object.entries(value).map(([key, member]) => sizeOf(key) + 1 + measure(member, key, found)))
  }
  if (!Array.isArray(value)) return sizeOf(value)
  const elementBytes = value.map((element, index) =>
    measure(element, Array.isArray(element) ? `${name}[${index}]` : name, found)
  )
  const bytes = sizeOfParts(elementBytes)
  found.push({ array: value, name, bytes, elementBytes })
  return bytes
}

/** Returns how many of the first elements fit into `maxBytes` together with the note. */
const countOf = (elementBytes: ReadonlyArray<number>, maxBytes: number, noteOf: (shown: number) => string): number => {
  // Start with the two brackets, minus one comma: there is one fewer comma than elements.
  let bytes = 1
  let shown = 0
  for (const element of elementBytes) {
    bytes += element + 1
    if (bytes + sizeOf(noteOf(shown + 1)) > maxBytes) break
    shown += 1
  }
  return shown
}

/** Adds a note. An object that has its own `note` moves into the field `result`. */
const withNote = (object: JsonObject, note: string): JsonObject => ({
  note,
  ...Object.hasOwn(object, "note") ? { result: object } : object
})

/**
 * Returns the JSON as an object. If that is too large, cuts the largest array of which at least one element fits, and adds a note. Returns
 * undefined if there is no such array.
 */
const cutToFit = (json: unknown, maxBytes: number, givenNote?: string): JsonObject | undefined => {
  const object = Predicate.isRecord(json) ? json : { result: json }
  const whole = givenNote === undefined ? object : withNote(object, givenNote)
  if (sizeOf(whole) <= maxBytes) return whole
  const arrays: Array<MeasuredArray> = []
  measure(object, "", arrays)
  const bytesWithoutNote = sizeOf(withNote(object, "")) - sizeOf("")
  for (const { array, bytes, elementBytes, name } of arrays.sort((one, other) => other.bytes - one.bytes)) {
    const noteOf = (shown: number) => {
      const cutNote = `The result is too long: ${shown} of ${array.length} elements of ${name} are shown.`
      return [givenNote ?? [], cutNote, "A narrower term finds fewer."].flat().join(" ")
    }
    const shown = countOf(elementBytes, maxBytes - (bytesWithoutNote - bytes), noteOf)
    if (shown === 0) continue
    const part = array.slice(0, shown)
    const shortened = (_: string, value: unknown) => value === array ? part : value
    return JSON.parse(JSON.stringify(withNote(object, noteOf(shown)), shortened))
  }
  return undefined
}

/** Node's readline ends a line at a line separator, so an MCP client would read half of a message. */
const withoutLineSeparators = (json: string) => json.replace(/[\u2028\u2029]/g, "\\n")

/** The APIs of models reject half of a surrogate pair, and then all later messages of the conversation. */
const withoutSurrogates = (_: string, value: unknown) =>
  typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value

const tooLarge = (maxBytes: number) =>
  `The result has more than ${maxBytes} bytes, and cutting an array doesn't make it fit. Search with a narrower term. If that ` +
  "doesn't help, whoever set up this tool can allow larger results."

/**
 * Returns the payload as an object of at most `maxResultBytes` of JSON, with the note if one is given. If that isn't possible, fails with
 * a sentence for the model.
 */
export const fitResult = (
  payload: unknown,
  { fields = [], maxResultBytes, note }: Settings
): Either.Either<JsonObject, string> => {
  try {
    // The result of a schema may not be JSON, and a payload may be nested too deeply for the stack.
    const json: unknown = JSON.parse(withoutLineSeparators(JSON.stringify(payload) ?? "null"), withoutSurrogates)
    const picked = fields.length === 0 ? json : pickFields(json, new Set(fields))
    const result = cutToFit(picked, maxResultBytes, note)
    return result === undefined ? Either.left(tooLarge(maxResultBytes)) : Either.right(result)
  } catch {
    return Either.left("The result can't be written as JSON. Search with another term.")
  }
}
