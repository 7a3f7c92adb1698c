import * as Clock from "effect/Clock"
import * as Pull from "effect/Pull"

const checkSchedule: Schedule.Schedule<number, number> = Schedule.jittered(
  Schedule.fromStep(Effect.succeed((_now: number, pause: number) =>
    Effect.succeed<[number, Duration.Duration]>([pause, Duration.millis(pause)])
  ))
)

export const untilNextCheck = (pause: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    const step = yield* Schedule.toStep(checkSchedule)
    const [, delay] = yield* Pull.catchDone(
      step(yield* Clock.currentTimeMillis, pause),
      () => Effect.succeed([pause, Duration.millis(pause)] as const)
    )
    return Duration.toMillis(delay)
  })
