import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"

/** Milliseconds from now until the Schedule recurs for this input, or undefined where it has ended. */
export type Next<In> = (now: number, input: In) => Effect.Effect<number | undefined>

export const make = <In>(schedule: Schedule.Schedule<unknown, In>): Next<In> => {
  let state: unknown = schedule.initial
  return (now, input) =>
    Effect.map(schedule.step(now, input, state), ([next, , decision]) => {
      state = next
      return ScheduleDecision.isDone(decision) ? undefined : ScheduleIntervals.start(decision.intervals) - now
    })
}
