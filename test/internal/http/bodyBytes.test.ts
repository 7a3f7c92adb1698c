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
    expect(expected.equals(bytes.copied)).toBe(true)
  })

  it.prop("gives memory of its own that holds nothing but the body as its copy", [...chunks], ([first, rest]) => {
    const { copied, length } = gathered(first, rest)
    expect([copied.buffer === first.buffer, copied.buffer.byteLength]).toEqual([false, length])
  })

  it("copies nothing of a body in one chunk", () => {
    const first = new Uint8Array(100)
    expect(new BodyBytes(first).whole).toBe(first)
  })

  it("goes on after its bytes were looked at", () => {
    const bytes = gathered(Uint8Array.of(1), [Uint8Array.of(2)])
    expect([...bytes.whole]).toEqual([1, 2])
    bytes.add(Uint8Array.of(3))
    expect([...bytes.whole]).toEqual([1, 2, 3])
  })
})

/** In bytes: all memory that its fields refer to. */
const memoryOf = (bytes: BodyBytes) => {
  const arrays = Object.values(bytes).flat().filter((value) => value instanceof Uint8Array)
  return [...new Set(arrays.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

const viewOf = (length: number, memory: number) => new Uint8Array(new ArrayBuffer(memory), 0, length)

const repeated = (length: number, memory: number, count: number) =>
  gathered(viewOf(length, length), Array.from({ length: count - 1 }, () => viewOf(length, memory)))

describe("the memory of a body", () => {
  it.each([[1, 65_536, 1_000], [100, 200, 1_000], [4_095, 4_095, 100], [5_000, 65_536, 100], [30_000, 65_536, 100]])(
    "is at most three times its length and 1 KiB where its pieces of %d bytes are views of %d",
    (length, memory, count) => {
      expect(memoryOf(repeated(length, memory, count))).toBeLessThanOrEqual(3 * length * count + 1_024)
    }
  )

  it.each([[4_096, 4_096], [4_096, 8_192], [50_000, 65_536]])(
    "is that of its pieces of %d bytes where they are at least half of the %d that they are views of",
    (length, memory) => {
      expect(memoryOf(repeated(length, memory, 10))).toBe(length + 9 * memory)
    }
  )

  it("is that of few pieces where it came in thousands of small ones", () => {
    const objects = Object.values(repeated(100, 100, 10_000)).flat().filter((value) => value instanceof Uint8Array)
    expect(objects.length).toBeLessThan(20)
  })
})
