import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as ForeignPart from "../foreignPart.js"

/** Milliseconds from now until the Schedule recurs for this input, or undefined where it has ended. */
export type Next<In> = (now: number, input: In) => Effect.Effect<number | undefined>

export const make = <In>(schedule: Schedule.Schedule<unknown, In>): Next<In> => {
  const step: typeof schedule.step = (...from) =>
    ForeignPart.callApart("The Schedule", constFalse, () => schedule.step(...from))
  let state: unknown = schedule.initial
  return (now, input) =>
    Effect.map(step(now, input, state), ([next, , decision]) => {
      state = next
      return ScheduleDecision.isDone(decision) ? undefined : ScheduleIntervals.start(decision.intervals) - now
    })
}
