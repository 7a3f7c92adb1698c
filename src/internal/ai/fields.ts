import * as Predicate from "effect/Predicate"

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holdsObjects) : Predicate.isRecord(value)

/**
 * An element of an array. An object that has some of the fields is a food, and keeps them alone. Any other is a group or a wrapper of
 * foods, such as `{ score, food: { ... } }`: what it holds is searched for foods.
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

/** The JSON with only these fields in the objects of its arrays; what stands outside of arrays stays. */
export const pickFields = (json: unknown, fields: ReadonlySet<string>): unknown => {
  if (Array.isArray(json)) return pickFromElement(json, fields)
  if (!Predicate.isRecord(json)) return json
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, pickFields(value, fields)]))
}
