import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BodyBytes } from "../../../src/internal/http/bodyBytes.js"

/** Views of a larger memory as well as arrays that have their own, of sizes around those at which the class decides. */
const chunk = FastCheck.record({
  length: FastCheck.oneof(
    FastCheck.integer({ min: 0, max: 40 }),
    FastCheck.integer({ min: 4_000, max: 4_200 }),
    FastCheck.integer({ min: 200_000, max: 300_000 })
  ),
  around: FastCheck.oneof(FastCheck.constant(0), FastCheck.integer({ min: 1, max: 70_000 }))
}).map(({ around, length }) => new Uint8Array(new ArrayBuffer(length + around), around, length).fill(length % 251))

const gathered = (first: Uint8Array, rest: ReadonlyArray<Uint8Array>) => {
  const bytes = new BodyBytes(first)
  for (const next of rest) bytes.add(next)
  return bytes
}

const chunks = [chunk, FastCheck.array(chunk, { maxLength: 30 })] as const

describe("BodyBytes", () => {
  it.prop("gives the bytes of all chunks in order", [...chunks], ([first, rest]) => {
    const bytes = gathered(first, rest)
    const expected = Buffer.concat([first, ...rest])
    expect(bytes.length).toBe(expected.length)
    expect(expected.equals(bytes.whole)).toBe(true)
  })

  it("copies nothing of a body in one chunk", () => {
    const first = new Uint8Array(100)
    expect(new BodyBytes(first).whole.buffer).toBe(first.buffer)
  })

  it("goes on after its bytes were looked at", () => {
    const bytes = gathered(Uint8Array.of(1), [Uint8Array.of(2)])
    expect([...bytes.whole]).toEqual([1, 2])
    bytes.add(Uint8Array.of(3))
    expect([...bytes.whole]).toEqual([1, 2, 3])
  })
})

describe("the memory of a body", () => {
  it.each([[1, 65_536, 1_000], [100, 200, 1_000], [5_000, 65_536, 100]])(
    "is at most twice its length where its pieces of %d bytes are views of %d",
    (length, memory, count) => {
      const piece = new Uint8Array(new ArrayBuffer(memory), 0, length)
      const bytes = gathered(new Uint8Array(length), Array.from({ length: count - 1 }, () => piece))
      expect(bytes.whole.buffer.byteLength).toBeLessThanOrEqual(2 * length * count)
    }
  )
})
