/** Returns what is kept of a body, or undefined if it has not been read. In Effect 4, all responses keep their text and their bytes. */
export const keptOf = (native: unknown): KeptBody | undefined => {
  const isUsed = propertyOf(native, "bodyUsed") ?? propertyOf(propertyOf(native, "body"), "bodyUsed")
  return isUsed === true || wasRead(native) ? "TextOrBytes" : undefined
}
