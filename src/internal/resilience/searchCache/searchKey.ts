import type { NormalizedOptions } from "../../request/searchOptions.js"

type Comparable = string | number | boolean | null

/** JSON keeps these values apart. Two objects can't be compared: they might mean the same thing, or two different customers. */
const isComparable = (value: unknown): value is Comparable =>
  value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)

/**
 * Returns the same key for equal searches: those whose term, parameters, headers and other options are the same, to the letter. Returns
 * undefined if an option can't be compared. Such a search isn't equal to any other.
 */
export const searchKey = (term: string, options: Partial<NormalizedOptions> = {}): string | undefined => {
  const { headers = {}, urlParams = [], ...rest } = options
  const others = Object.entries<unknown>(rest).filter(([, value]) => value !== undefined)
  if (!others.every(([, value]) => isComparable(value))) return undefined
  others.sort(([name], [otherName]) => name < otherName ? -1 : 1)
  return JSON.stringify([term, urlParams, Object.entries(headers), others])
}
