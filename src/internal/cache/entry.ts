/** The most bytes that an entry may have; what is longer is no entry. A sealed token has some hundred to some thousand. */
export const maxBytes = 16 * 1024

/** Counts bytes only where the number of characters does not decide. */
export const isTooLong = (entry: string): boolean =>
  entry.length > maxBytes || (entry.length * 3 > maxBytes && new TextEncoder().encode(entry).length > maxBytes)
