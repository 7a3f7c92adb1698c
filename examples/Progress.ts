/** How far a run is: a bar where stderr is a terminal, a line every few seconds where it is not. */
import { SingleBar } from "cli-progress"
import { Clock, Console, Duration, Effect, Exit, Option, type Scope } from "effect"

export interface Progress {
  readonly add: (failed: boolean) => Effect.Effect<void>
  /** Clears the line that the bar is on, for output that goes to the same terminal. */
  readonly makeRoom: Effect.Effect<void>
}

export interface Options {
  /** Not known of a pipe, which can be read only once. */
  readonly total: Option.Option<number>
  readonly alreadyDone: number
  /** How many of these failed. */
  readonly alreadyFailed: number
  /** Whether what is written goes to the terminal that the bar is on. */
  readonly sharesTerminal: boolean
  /** What else the line says at its end. */
  readonly also?: Effect.Effect<string>
}

const number = (value: number) => value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",")

const plain = Effect.succeed({
  show: (text: string) => Console.error(text),
  makeRoom: Effect.void,
  interval: "5 seconds" as const
})

const bar = ({ alreadyDone, sharesTerminal, total }: Options) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const format = Option.isSome(total) ? "{bar} {text}" : "{text}"
      const bar = new SingleBar({ format, barsize: 20, linewrap: true, gracefulExit: false, stream: process.stderr })
      bar.start(Option.getOrElse(total, () => 1), alreadyDone, { text: "" })
      return bar
    }),
    (bar) =>
      Effect.sync(() => {
        process.stderr.write("\x1b7") // stop() goes back to the place saved at the start, which may have scrolled away
        bar.stop()
      })
  ).pipe(Effect.map((bar) => ({
    show: (text: string, done: number) => Effect.sync(() => bar.update(done, { text })),
    makeRoom: sharesTerminal ? Effect.sync(() => process.stderr.write("\r\x1b[K")) : Effect.void,
    interval: "200 millis" as const
  })))

export const make = (options: Options): Effect.Effect<Progress, never, Scope.Scope> =>
  Effect.gen(function*() {
    const started = yield* Clock.currentTimeMillis
    let done = 0
    let failed = options.alreadyFailed

    const text = Effect.zipWith(Clock.currentTimeMillis, options.also ?? Effect.succeed(""), (now, also) => {
      const rate = done * 1000 / Math.max(1, now - started)
      const left = Option.map(options.total, (total) => total - options.alreadyDone - done)
      return [
        number(options.alreadyDone + done) + Option.match(options.total, {
          onNone: () => " terms",
          onSome: (total) => ` of ${number(total)} terms`
        }),
        `${number(failed)} failed`,
        `${rate < 10 ? rate.toFixed(1) : number(rate)} a second`,
        ...Option.match(left, {
          onNone: () => [],
          onSome: (left) =>
            rate === 0 || left === 0 ? [] : [`${Duration.format(Duration.seconds(Math.ceil(left / rate)))} left`]
        }),
        ...(also === "" ? [] : [also])
      ].join(", ")
    })

    const { interval, makeRoom, show } = yield* process.stderr.isTTY ? bar(options) : plain
    const showNow = Effect.flatMap(text, (text) => show(text, options.alreadyDone + done))
    yield* Effect.addFinalizer((exit) => Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? showNow : Effect.void)
    yield* Effect.forkScoped(Effect.forever(Effect.delay(showNow, interval)))

    return {
      add: (hasFailed) =>
        Effect.sync(() => {
          done += 1
          failed += hasFailed ? 1 : 0
        }),
      makeRoom
    }
  })
