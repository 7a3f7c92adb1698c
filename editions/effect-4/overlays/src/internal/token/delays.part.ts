import * as Pull from "effect/Pull"

/** Each call steps the Schedule from its start, because it has no state. */
export const untilNextCheck = (pause: number): Effect.Effect<void> =>
  Effect.flatMap(Schedule.toStepWithSleep(checks), (step) => Effect.asVoid(Pull.catchDone(step(pause), () => Effect.void)))
