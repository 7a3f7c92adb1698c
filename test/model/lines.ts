import { Cause, Effect, FiberRef, HashSet, Logger, LogLevel } from "effect"

/** Keeps every line that an effect logs, at any level, with its cause. */
export const keptIn = (lines: Array<string>) => <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const logger = Logger.make(({ cause, message }) => {
    lines.push(`${String(message)} ${Cause.pretty(cause)}`)
  })
  return effect.pipe(
    Effect.locally(FiberRef.currentLoggers, HashSet.make(logger)),
    Logger.withMinimumLogLevel(LogLevel.All)
  )
}
