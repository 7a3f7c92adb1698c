import * as Predicate from "effect/Predicate"

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holdsObjects) : Predicate.isRecord(value)

/**
 * Keeps only these fields in objects that are in arrays. Such an object is a food if it has some of the fields. Any other one is searched
 * for foods, because it may be a group or a wrapper such as `{ score, food: { ... } }`. Everything outside of arrays is kept.
 */
export const pickFields = (json: unknown, fields: ReadonlySet<string>, isInArray = false): unknown => {
  if (Array.isArray(json)) return json.map((element) => pickFields(element, fields, true))
  if (!Predicate.isRecord(json)) return json
  const entries = Object.entries(json)
  const kept = isInArray ? entries.filter(([name]) => fields.has(name)) : []
  if (kept.length > 0) return Object.fromEntries(kept)
  const searched = isInArray ? entries.filter(([, value]) => holdsObjects(value)) : entries
  return Object.fromEntries(searched.map(([name, value]) => [name, pickFields(value, fields, isInArray)]))
}
