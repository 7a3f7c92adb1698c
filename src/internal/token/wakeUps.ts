import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"

/** The wake-ups that are due at the same time, and how to cancel the timer that they share. */
interface Slot {
  readonly wakeUps: Set<() => void>
  readonly cancelTimer: () => void
}

/** The slots of a clock by their time, in monotonic milliseconds. */
type Slots = Map<number, Slot>

/**
 * All clients of a process share their timers, so this Map has to belong to the module. If each client slept in a fiber of its own,
 * thousands of idle clients would keep the process busy with their timers and their garbage (bench/RESULTS.md).
 */
const slotsByClock = new WeakMap<Clock.Clock, Slots>()

const slotsOf = (clock: Clock.Clock): Slots => {
  const slots: Slots = slotsByClock.get(clock) ?? new Map()
  slotsByClock.set(clock, slots)
  return slots
}

/** Wake-ups that are at least this far away share a timer with others of the same second. In milliseconds. */
const sharedFrom = 10_000

const openSlot = (clock: Clock.Clock, slots: Slots, dueAt: number): Slot => {
  const wakeUps = new Set<() => void>()
  const millis = Math.max(0, Math.ceil(dueAt - monotonicMillis(clock)))
  const cancelTimer = Effect.runCallback(clock.sleep(Duration.millis(millis)), {
    onExit: (exit) => {
      if (Exit.isFailure(exit)) return
      slots.delete(dueAt)
      for (const wakeUp of wakeUps) wakeUp()
    }
  })
  const slot = { wakeUps, cancelTimer }
  slots.set(dueAt, slot)
  return slot
}

/** Calls a function after a number of milliseconds, or up to a second earlier, so that wake-ups can share a timer. */
export type WakeAfter = (millis: number, wakeUp: () => void) => void

/** A timer of one client, for one wake-up at a time. Closing the scope cancels it. */
export const make: Effect.Effect<WakeAfter, never, Scope.Scope> = Effect.gen(function*() {
  const clock = yield* Effect.clock
  const slots = slotsOf(clock)
  let isClosed = false
  let cancel = () => {}
  yield* onClose(Effect.sync(() => {
    isClosed = true
    cancel()
  }))
  return (millis, wakeUp) => {
    if (isClosed) return
    const exactly = monotonicMillis(clock) + millis
    const dueAt = millis < sharedFrom ? exactly : Math.floor(exactly / 1_000) * 1_000
    const slot = slots.get(dueAt) ?? openSlot(clock, slots, dueAt)
    slot.wakeUps.add(wakeUp)
    cancel = () => {
      slot.wakeUps.delete(wakeUp)
      if (slot.wakeUps.size > 0) return
      slots.delete(dueAt)
      slot.cancelTimer()
    }
  }
})
