/** Whether a wrapper has read the body. In Effect 4, all responses keep it as text and bytes, those of node:http too. */
export const isBodyUsed = (native: unknown): boolean =>
  (propertyOf(native, "bodyUsed") ?? propertyOf(propertyOf(native, "body"), "bodyUsed")) === true ||
  propertyOf(native, "readableDidRead") === true
