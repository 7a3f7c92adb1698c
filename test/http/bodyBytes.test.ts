import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BodyBytes } from "../../src/internal/http/bodyBytes.js"

/** Arrays of sizes around the limits of BodyBytes. Some are views of a larger buffer. */
const chunk = FastCheck.record({
  length: FastCheck.oneof(
    FastCheck.integer({ min: 0, max: 40 }),
    FastCheck.integer({ min: 4_000, max: 4_200 }),
    FastCheck.integer({ min: 200_000, max: 300_000 })
  ),
  around: FastCheck.oneof(FastCheck.constant(0), FastCheck.integer({ min: 1, max: 70_000 }))
}).map(({ around, length }) => new Uint8Array(new ArrayBuffer(length + around), around, length).fill(length % 251))

const gathered = (chunks: ReadonlyArray<Uint8Array>, maxBytes = Number.POSITIVE_INFINITY) => {
  const bytes = new BodyBytes()
  const areWhole = chunks.map((chunk) => bytes.add(chunk, maxBytes))
  return { bytes, areWhole }
}

const chunks = FastCheck.array(chunk, { maxLength: 30 })

describe("BodyBytes", () => {
  it.prop(
    "the bytes of all chunks are kept in order up to the limit",
    [chunks, FastCheck.integer({ min: 0, max: 3_000_000 })],
    ([chunks, maxBytes]) => {
      const { areWhole, bytes } = gathered(chunks, maxBytes)
      const all = Buffer.concat(chunks)
      expect(all.subarray(0, maxBytes).equals(bytes.whole)).toBe(true)
      expect(areWhole.every(Boolean)).toBe(all.length <= maxBytes)
    }
  )

  it("a body in one chunk is not copied", () => {
    const first = new Uint8Array(100)
    expect(gathered([first]).bytes.whole.buffer).toBe(first.buffer)
  })

  it.each([[1, 65_536, 1_000], [100, 200, 1_000], [5_000, 65_536, 100]])(
    "memory is at most twice the length of the body (bytes in a chunk: %d, in its buffer: %d)",
    (length, memory, count) => {
      const piece = new Uint8Array(new ArrayBuffer(memory), 0, length)
      const { bytes } = gathered([new Uint8Array(length), ...Array.from({ length: count - 1 }, () => piece)])
      expect(bytes.whole.buffer.byteLength).toBeLessThanOrEqual(2 * length * count)
    }
  )
})
