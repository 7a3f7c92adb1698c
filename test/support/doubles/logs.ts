import { Effect, HashMap, Logger, LogLevel } from "effect"

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** Adds each log line to the given array instead of printing it. */
export const recordingTo = (lines: Array<LogLine>) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ annotations, logLevel, message }) => {
      lines.push({
        level: logLevel.label,
        message: String(message),
        annotations: Object.fromEntries(HashMap.toEntries(annotations))
      })
    })
  )

/** The lines that an effect logs, at any level. */
export const logged = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyArray<LogLine>, E, R> =>
  Effect.suspend(() => {
    const lines: Array<LogLine> = []
    const recorded = Logger.withMinimumLogLevel(Effect.provide(effect, recordingTo(lines)), LogLevel.All)
    return Effect.as(recorded, lines)
  })
