/** Writes the log of a client to standard error, or to the logger of the program. */
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashSet from "effect/HashSet"
import * as Inspectable from "effect/Inspectable"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type { ClientLogger } from "../../promise/Client.js"

type Fields = Readonly<Record<string, unknown>>

/** pino, the logger of Fastify, and bunyan read the fields first. */
type FieldsFirst = { [Level in keyof ClientLogger]: (fields: Fields, message: string) => void }

const isFieldsFirst = (logger: object): logger is FieldsFirst => "bindings" in logger || "addSerializers" in logger

/** A console prints an object on several lines. */
const isConsole = (logger: object): logger is Console => "groupCollapsed" in logger

export const levels = ["debug", "info", "warn", "error"] as const

const isEmpty = (fields: Fields) => Object.keys(fields).length === 0

/** Returns what the logger returns, which is a promise if its method is async. */
const writeTo = (logger: ClientLogger, level: keyof ClientLogger, message: string, fields: Fields): unknown => {
  if (isFieldsFirst(logger)) return logger[level](fields, message)
  if (isConsole(logger)) return logger[level](isEmpty(fields) ? message : `${message} ${JSON.stringify(fields)}`)
  return logger[level](message, fields)
}

/**
 * A logger may throw, as pino does after its stream has ended. That must not fail the call that logs. An async logger may reject, which
 * would end the process.
 */
const write = async (...line: Parameters<typeof writeTo>) => {
  try {
    await writeTo(...line)
  } catch {
    // There is nowhere else to log it.
  }
}

/** Like Effect's own loggers, this hides the secrets in the headers of a request. */
const textOf = (part: unknown) => part instanceof Error ? String(part) : Inspectable.toStringUnknown(part, 0)

/** Returns an annotation as a plain value that every logger can write. The same secrets are hidden, however deep they are. */
const fieldOf = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (typeof value !== "object") return value
  const text = textOf(value)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const levelOf = (level: LogLevel.LogLevel): keyof ClientLogger => {
  if (LogLevel.greaterThanEqual(level, LogLevel.Error)) return "error"
  if (LogLevel.greaterThanEqual(level, LogLevel.Warning)) return "warn"
  return LogLevel.greaterThanEqual(level, LogLevel.Info) ? "info" : "debug"
}

const loggerOver = (logger: ClientLogger) =>
  Logger.make(({ annotations, cause, logLevel, message }) => {
    const annotated = Record.map(Object.fromEntries(annotations), fieldOf)
    const fields = { ...annotated, ...!Cause.isEmpty(cause) && { cause: Cause.pretty(cause) } }
    void write(logger, levelOf(logLevel), Array.ensure(message).map(textOf).join(" "), fields)
  })

const standardError = Logger.withConsoleError(Logger.stringLogger)

/**
 * Logs nothing if the layer of the client has another logger. Standard output isn't used, because an MCP server sends its messages there.
 */
const onStandardError: Logger.Logger<unknown, void> = Logger.make((entry) => {
  const loggers = FiberRefs.getOrDefault(entry.context, FiberRef.currentLoggers)
  const isOther = (logger: unknown) => logger !== onStandardError && logger !== Logger.tracerLogger
  if (!HashSet.some(loggers, isOther)) standardError.log(entry)
})

const replaceDefault = (logger: Logger.Logger<unknown, void>) =>
  FiberRef.update(
    FiberRef.currentLoggers,
    (loggers) => HashSet.add(HashSet.remove(loggers, Logger.defaultLogger), logger)
  )

/** Every level reaches the logger, which decides what it writes. The runtime's own line about each failed call is turned off. */
const logTo = (logger: ClientLogger) =>
  Effect.all([
    replaceDefault(loggerOver(logger)),
    FiberRef.set(FiberRef.currentMinimumLogLevel, LogLevel.Debug),
    FiberRef.set(FiberRef.unhandledErrorLogLevel, Option.none())
  ], { discard: true })

/**
 * Builds services that log to the logger of the program, or to standard error. It changes the loggers of the current fiber, so that fiber must
 * run only this build. A layer would keep 10 kB alive in each client.
 */
export const withLogger = <A, E, R>(
  logger: ClientLogger | undefined,
  build: Effect.Effect<Context.Context<A>, E, R>
): Effect.Effect<Context.Context<A>, E, R> =>
  Effect.zipRight(logger === undefined ? replaceDefault(onStandardError) : logTo(logger), build)
