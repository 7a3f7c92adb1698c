import * as Pull from "effect/Pull"

export const checks: Schedule.Schedule<number, number> = Schedule.fromStep(Effect.succeed((now: number, pause: number) =>
  Effect.map(Random.next, (random): [number, Duration.Duration] => {
    const delay = untilCheck(pause, now, random)
    return [delay, Duration.millis(delay)]
  })
))

/** Each call steps the Schedule from its start, because it has no state. */
export const untilNextCheck = (pause: number): Effect.Effect<void> =>
  Effect.flatMap(Schedule.toStepWithSleep(checks), (step) => Effect.asVoid(Pull.catchDone(step(pause), () => Effect.void)))
