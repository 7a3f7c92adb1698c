import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { outsideOfCalls } from "../runtime/asyncContext.js"
import { monotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"

/** The wake-ups that are due at the same time, and how to cancel the timer that they share. */
interface Slot {
  readonly wakeUps: Set<() => void>
  readonly cancelTimer: () => void
}

/** The slots of a clock. Times are monotonic milliseconds. */
interface Slots {
  /** Where the first slot starts. It differs between processes, so that replicas don't all wake up at the same time. */
  readonly origin: number
  readonly byTime: Map<number, Slot>
}

/**
 * All clients of a process share their timers, so this Map has to be in the module. If each client slept in its own fiber, thousands of
 * idle clients would keep the process busy with timers and garbage (bench/RESULTS.md).
 */
const slotsByClock = new WeakMap<Clock.Clock, Slots>()

const newSlots = (clock: Clock.Clock): Slots => ({ origin: monotonicMillis(clock), byTime: new Map() })

const { setTimeout } = globalThis

/** A test may replace `setTimeout` with fake timers, and discard them before they fire. Each wake-up then gets its own timer. */
const slotsOf = (clock: Clock.Clock): Slots => {
  if (globalThis.setTimeout !== setTimeout) return newSlots(clock)
  const slots = slotsByClock.get(clock) ?? newSlots(clock)
  slotsByClock.set(clock, slots)
  return slots
}

/** The length of a slot, in milliseconds. */
const slotLength = 5_000

/** Wake-ups that are nearer than this, in milliseconds, get their own timer. */
const sharedFrom = 30_000

/** When a wake-up is due: at the exact time if it is near, otherwise at the start of its slot. */
const dueTime = ({ origin }: Slots, exactly: number, millis: number): number =>
  millis < sharedFrom ? exactly : origin + Math.floor((exactly - origin) / slotLength) * slotLength

const openSlot = (clock: Clock.Clock, { byTime }: Slots, dueAt: number): Slot => {
  const wakeUps = new Set<() => void>()
  const millis = Math.max(0, Math.ceil(dueAt - monotonicMillis(clock)))
  const onExit = (exit: Exit.Exit<void>) => {
    if (Exit.isFailure(exit)) return
    byTime.delete(dueAt)
    for (const wakeUp of wakeUps) wakeUp()
  }
  const cancelTimer = outsideOfCalls(() => Effect.runCallback(clock.sleep(Duration.millis(millis)), { onExit }))
  const slot = { wakeUps, cancelTimer }
  byTime.set(dueAt, slot)
  return slot
}

/** Calls a function after a number of milliseconds, or up to five seconds earlier, so that wake-ups can share a timer. */
type WakeAfter = (millis: number, wakeUp: () => void) => void

/** A timer of one client, for one wake-up at a time. Closing the scope cancels it. */
export const make: Effect.Effect<WakeAfter, never, Scope.Scope> = Effect.gen(function*() {
  const clock = yield* Effect.clock
  let isClosed = false
  let cancel = () => {}
  yield* onClose(Effect.sync(() => {
    isClosed = true
    cancel()
  }))
  return (millis, wakeUp) => {
    if (isClosed) return
    const slots = slotsOf(clock)
    const dueAt = dueTime(slots, monotonicMillis(clock) + millis, millis)
    const slot = slots.byTime.get(dueAt) ?? openSlot(clock, slots, dueAt)
    slot.wakeUps.add(wakeUp)
    cancel = () => {
      slot.wakeUps.delete(wakeUp)
      if (slot.wakeUps.size > 0) return
      slots.byTime.delete(dueAt)
      slot.cancelTimer()
    }
  }
})
