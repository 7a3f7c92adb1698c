/** The first bytes of a body in codings that some runtimes don't decode, or decode only if it is the only coding and in lower case. */
const frames: Readonly<Record<string, ReadonlyArray<number>>> = {
  "zstd": [0x28, 0xb5, 0x2f, 0xfd],
  "deflate": [0x78, 0x9c],
  "gzip": [0x1f, 0x8b],
  "x-gzip": [0x1f, 0x8b]
}

/** Whether fetch has decoded a body. The content-encoding header stays in the response either way. */
export const isDecoded = (contentEncoding: string, body: Uint8Array): boolean => {
  const codings = contentEncoding.toLowerCase().split(",").map((coding) => coding.trim())
  if (!codings.every((coding) => /^(x-gzip|gzip|deflate|br|zstd)$/.test(coding))) return false
  // Every fetch decodes gzip. The decoded body may be a gzip file itself, so its first bytes prove nothing.
  if (/^(x-)?gzip$/.test(contentEncoding)) return true
  const frame = frames[codings.at(-1) ?? ""]
  return frame === undefined || !frame.every((byte, index) => body[index] === byte)
}
