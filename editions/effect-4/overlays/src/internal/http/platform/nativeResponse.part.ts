/** What the platform may have kept of a body that a wrapper has read. In Effect 4, all responses keep their text and their bytes. */
export const keptOf = (native: unknown): "TextOrBytes" | "Text" | "Nothing" | undefined => {
  const isUsed = propertyOf(native, "bodyUsed") ?? propertyOf(propertyOf(native, "body"), "bodyUsed")
  return (isUsed ?? propertyOf(native, "readableDidRead")) === true ? "TextOrBytes" : undefined
}
