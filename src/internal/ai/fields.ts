import * as Predicate from "effect/Predicate"

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holdsObjects) : Predicate.isRecord(value)

/**
 * Handles an element of an array. An object that has some of the fields is a food, and keeps only those. Any other object is searched for
 * foods, because it may be a group or a wrapper such as `{ score, food: { ... } }`.
 */
const pickFromElement = (element: unknown, fields: ReadonlySet<string>): unknown => {
  if (Array.isArray(element)) return element.map((inner) => pickFromElement(inner, fields))
  if (!Predicate.isRecord(element)) return element
  const entries = Object.entries(element)
  const kept = entries.filter(([name]) => fields.has(name))
  if (kept.length > 0) return Object.fromEntries(kept)
  return Object.fromEntries(
    entries.filter(([, value]) => holdsObjects(value)).map(([name, value]) => [name, pickFromElement(value, fields)])
  )
}

/** Keeps only these fields in objects that are in arrays. Everything outside of arrays is kept. */
export const pickFields = (json: unknown, fields: ReadonlySet<string>): unknown => {
  if (Array.isArray(json)) return pickFromElement(json, fields)
  if (!Predicate.isRecord(json)) return json
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, pickFields(value, fields)]))
}
