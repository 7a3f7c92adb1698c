import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as References from "effect/References"

const levelOf = (level: LogLevel.LogLevel): keyof ClientLogger => {
  if (level === "Error" || level === "Fatal") return "error"
  if (level === "Warn") return "warn"
  return level === "Info" ? "info" : "debug"
}

const loggerOver = (logger: ClientLogger) =>
  Logger.make(({ cause, fiber, logLevel, message }) => {
    const annotated = Record.map(fiber.getRef(References.CurrentLogAnnotations), fieldOf)
    const fields = { ...annotated, ...cause.reasons.length > 0 && { cause: Cause.pretty(cause) } }
    write(logger, levelOf(logLevel), Array.ensure(message).map(textOf).join(" "), fields)
  })

const onStandardError: Logger.Logger<unknown, void> = Logger.make((entry) => {
  const loggers = entry.fiber.getRef(Logger.CurrentLoggers)
  const isOther = (logger: unknown) => logger !== onStandardError && logger !== Logger.tracerLogger
  if (![...loggers].some(isOther)) standardError.log(entry)
})

const replaceDefault = (logger: Logger.Logger<unknown, void>) =>
  Logger.layer([logger, Logger.tracerLogger])

const logTo = (logger: ClientLogger) =>
  Layer.mergeAll(
    replaceDefault(loggerOver(logger)),
    Layer.succeed(References.MinimumLogLevel, "Debug"),
    Layer.succeed(References.UnhandledLogLevel, undefined)
  )

export const withLogger = <A, E, R>(
  logger: ClientLogger | undefined,
  build: Effect.Effect<Context.Context<A>, E, R>
): Effect.Effect<Context.Context<A>, E, R | Scope.Scope> =>
  Layer.build(
    Layer.provideMerge(
      Layer.effectContext(build),
      logger === undefined ? replaceDefault(onStandardError) : logTo(logger)
    )
  )
