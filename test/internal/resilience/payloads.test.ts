import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Payloads from "../../../src/internal/resilience/payloads.js"
import * as ManualClock from "../../doubles/ManualClock.js"

type Use = { readonly key: string; readonly text: string | undefined }

const use: FastCheck.Arbitrary<Use> = FastCheck.record({
  key: FastCheck.constantFrom("a", "b", "cé", "d", "e"),
  text: FastCheck.option(FastCheck.constantFrom("1", "\"é\"", "\"1234\"", "\"123456789\"", `"${"x".repeat(40)}"`), {
    nil: undefined
  })
})

const sizeOf = (key: string, text: string) => Buffer.byteLength(key) + Buffer.byteLength(text) + 200

/** Those used last, the last one first, as many as fit. */
const modelOf = (uses: ReadonlyArray<Use>, maxBytes: number) => {
  let kept: Array<readonly [string, string]> = []
  for (const { key, text } of uses) {
    const known = kept.find(([name]) => name === key)
    if (text === undefined && known === undefined) continue
    kept = kept.filter(([name]) => name !== key)
    if (sizeOf(key, text ?? known?.[1] ?? "") > maxBytes) continue
    kept.unshift([key, text ?? known?.[1] ?? ""])
    let bytes = 0
    kept = kept.filter(([key, text]) => (bytes += sizeOf(key, text)) <= maxBytes)
  }
  return kept
}

describe("payloads", () => {
  it("are those used last, of at most so many bytes together: key and text in UTF-8, and 200 for each", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(use, { maxLength: 40 }),
        FastCheck.integer({ min: 200, max: 900 }),
        (uses, maxBytes) => {
          const clock = ManualClock.make()
          const payloads = Payloads.make(maxBytes, 1_000)
          for (const { key, text } of uses) {
            if (text === undefined) payloads.find(key, clock)
            else payloads.keep(key, text, clock)
          }
          const kept = new Map(modelOf(uses, maxBytes))
          for (const key of ["a", "b", "cé", "d", "e"]) expect(payloads.find(key, clock)?.text).toBe(kept.get(key))
        }
      ),
      { numRuns: 1_000 }
    )
  })

  it("age by the clock that went on further: a machine that slept, and a wall clock that was set", () => {
    const clock = ManualClock.make()
    const payloads = Payloads.make(1_000, 1_000)
    payloads.keep("a", "1", clock)
    clock.monotonic += 400
    expect(payloads.find("a", clock)?.age).toBe(400)
    clock.wall += 900
    expect(payloads.find("a", clock)?.age).toBe(900)
    clock.wall += 101
    expect(payloads.find("a", clock)).toBeUndefined()
  })

  it("are too old where the wall clock was set back behind their time", () => {
    const clock = ManualClock.make()
    const payloads = Payloads.make(1_000, 1_000)
    payloads.keep("a", "1", clock)
    clock.wall -= 1
    expect(payloads.find("a", clock)).toBeUndefined()
  })

  it("go when they are too old as others are kept, also those used last", () => {
    const clock = ManualClock.make()
    const payloads = Payloads.make(1_000, 1_000)
    payloads.keep("a", "1", clock)
    clock.monotonic += 600
    payloads.keep("b", "1", clock)
    payloads.find("a", clock)
    clock.monotonic += 401
    payloads.keep("c", "x".repeat(500), clock)
    expect(["a", "b", "c"].map((key) => payloads.find(key, clock) !== undefined)).toEqual([false, true, true])
  })
})
