import { describe, expect, it } from "@effect/vitest"
import { momentOf } from "../../src/internal/clock.js"
import * as Pause from "../../src/internal/pause.js"
import * as ManualClock from "../doubles/ManualClock.js"

const begun = () => {
  const clock = ManualClock.make()
  return { clock, pause: Pause.start(momentOf(clock), 1_000) }
}

describe("Pause", () => {
  it("runs from its start", () => {
    const { clock, pause } = begun()
    expect(Pause.isRunning(pause, momentOf(clock))).toBe(true)
  })

  it("runs until 1 ms before its end", () => {
    const { clock, pause } = begun()
    ManualClock.pass(clock, 999)
    expect([Pause.isRunning(pause, momentOf(clock)), Pause.remaining(pause, momentOf(clock))]).toEqual([true, 1])
  })

  it("is over at its end", () => {
    const { clock, pause } = begun()
    ManualClock.pass(clock, 1_000)
    expect([Pause.isRunning(pause, momentOf(clock)), Pause.remaining(pause, momentOf(clock))]).toEqual([false, 0])
  })

  it("ends by the wall clock alone, which counts while a machine sleeps", () => {
    const { clock, pause } = begun()
    clock.wall += 1_000
    expect(Pause.isRunning(pause, momentOf(clock))).toBe(false)
  })

  it("ends by the monotonic clock alone, which can't be set", () => {
    const { clock, pause } = begun()
    clock.monotonic += 1_000
    expect(Pause.isRunning(pause, momentOf(clock))).toBe(false)
  })

  it("remains for what the further of the two clocks leaves", () => {
    const { clock, pause } = begun()
    clock.wall += 300
    clock.monotonic += 700
    expect(Pause.remaining(pause, momentOf(clock))).toBe(300)
  })

  it("is over when the wall clock is set to before its start", () => {
    const { clock, pause } = begun()
    clock.wall -= 1
    expect(Pause.isRunning(pause, momentOf(clock))).toBe(false)
  })

  it("is no longer than it was when the wall clock is set back to its start", () => {
    const { clock, pause } = begun()
    ManualClock.pass(clock, 600)
    clock.wall -= 600
    expect(Pause.remaining(pause, momentOf(clock))).toBe(400)
  })

  it("is over when the monotonic clock started anew", () => {
    const { clock, pause } = begun()
    clock.monotonic -= 1
    expect(Pause.isRunning(pause, momentOf(clock))).toBe(false)
  })

  it("never remains for less than nothing", () => {
    const { clock, pause } = begun()
    ManualClock.pass(clock, 5_000)
    expect(Pause.remaining(pause, momentOf(clock))).toBe(0)
  })

  it("does not stand where there is none", () => {
    const { clock } = begun()
    expect([Pause.isRunning(undefined, momentOf(clock)), Pause.remaining(undefined, momentOf(clock))]).toEqual([
      false,
      0
    ])
  })
})
