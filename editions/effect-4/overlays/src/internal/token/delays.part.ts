import * as Clock from "effect/Clock"
import * as Pull from "effect/Pull"

const checks: Schedule.Schedule<number, number> = Schedule.fromStep(Effect.succeed((_now: number, pause: number) =>
  Effect.map(Random.next, (random): [number, Duration.Duration] => {
    const delay = jittered(pause, random)
    return [delay, Duration.millis(delay)]
  })
))

export const untilNextCheck = (pause: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    const step = yield* Schedule.toStep(checks)
    const [delay] = yield* Pull.catchDone(step(yield* Clock.currentTimeMillis, pause), () => Effect.succeed([pause]))
    return delay
  })
