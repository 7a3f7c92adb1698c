import { describe, expect, it } from "@effect/vitest"
import type { Moment } from "../../src/internal/clock.js"
import * as Pause from "../../src/internal/pause.js"

const begun = { wall: 1_700_000_000_000, monotonic: 5_000 }

const pause = Pause.start(begun, 1_000)

describe("Pause", () => {
  it.each<readonly [title: string, passed: Moment, left: number]>([
    ["has its whole time left at its start", { wall: 0, monotonic: 0 }, 1_000],
    ["runs until 1 ms before its end", { wall: 999, monotonic: 999 }, 1],
    ["is over at its end", { wall: 1_000, monotonic: 1_000 }, 0],
    ["has never less than nothing left", { wall: 5_000, monotonic: 5_000 }, 0],
    ["ends by the wall clock alone, which counts while a machine sleeps", { wall: 1_000, monotonic: 0 }, 0],
    ["ends by the monotonic clock alone, which can't be set", { wall: 0, monotonic: 1_000 }, 0],
    ["has left what the further of the two clocks leaves", { wall: 300, monotonic: 700 }, 300],
    ["is over when the wall clock is set to before its start", { wall: -1, monotonic: 0 }, 0],
    ["is no longer where the wall clock is set back to its start", { wall: 0, monotonic: 600 }, 400],
    ["is over when the monotonic clock started anew", { wall: 0, monotonic: -1 }, 0]
  ])("%s", (_, { monotonic, wall }, left) => {
    const now = { wall: begun.wall + wall, monotonic: begun.monotonic + monotonic }
    expect([Pause.remaining(pause, now), Pause.isRunning(pause, now)]).toEqual([left, left > 0])
  })

  it("does not stand where there is none", () => {
    expect([Pause.remaining(undefined, begun), Pause.isRunning(undefined, begun)]).toEqual([0, false])
  })
})
