// A Schedule of Effect 4 is a step function in place of a state, and says by a failure that it has ended.
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constFalse } from "effect/Function"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import * as ForeignPart from "../foreignPart.js"

/** Milliseconds from now until the Schedule recurs for this input, or undefined where it has ended. */
export type Next<In> = (now: number, input: In) => Effect.Effect<number | undefined>

export const make = <In>(schedule: Schedule.Schedule<unknown, In>): Next<In> => {
  let step: Effect.Success<ReturnType<typeof Schedule.toStep<unknown, In, never, never>>> | undefined
  const stepOf = Effect.suspend(() =>
    step === undefined
      ? Effect.tap(Schedule.toStep(schedule), (made) =>
        Effect.sync(() => {
          step = made
        }))
      : Effect.succeed(step)
  )
  const stepped: Next<In> = (now, input) =>
    Effect.flatMap(stepOf, (step) => step(now, input)).pipe(
      Effect.map(([, delay]) => Duration.toMillis(delay)),
      Pull.catchDone(() => Effect.succeed(undefined))
    )
  return (now, input) =>
    ForeignPart.callApart("The Schedule", constFalse, () => stepped(now, input))
}
