import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import type * as Scope from "effect/Scope"
import type { Redis } from "ioredis"
import type { Client } from "../../redis/RedisTokenCache.js"
import { SharedTokenCacheError } from "../../SharedTokenCache.js"
import { outsideOfCalls } from "../runtime/asyncContext.js"

/**
 * A client, and the code of the last error of its connection. ioredis emits the error as an event, but not with the commands that fail
 * because of it.
 */
export interface Connection {
  readonly client: Client
  readonly lastCode: () => string | undefined
}

/**
 * Connects just before a command if ioredis is not connected yet, or has given up because no Sentinel responded. On its own, ioredis would
 * connect in the first command, and the connection would keep the context of that call. If connecting fails, so does the command.
 */
const connectingOutsideOfCalls = (redis: Redis, isClosed: () => boolean): Client => ({
  call: (command, ...args) => {
    const isIdle = redis.status === "wait" || redis.status === "end"
    if (isIdle && !isClosed()) outsideOfCalls(() => redis.connect().catch(constVoid))
    return redis.call(command, ...args)
  }
})

/** Opens a connection that closes with the scope. It has an error listener, because ioredis prints errors that have none. */
export const open = (create: () => Redis): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.suspend(() => {
    let isClosed = false
    const close = (redis: Redis) =>
      Effect.sync(() => {
        isClosed = true
        redis.disconnect()
      })
    return Effect.map(Effect.acquireRelease(Effect.sync(create), close), (redis) => {
      let lastCode: string | undefined
      redis.on("error", (error: unknown) => {
        // ioredis also emits an error if one of its own commands fails. That error has no code.
        lastCode = codeOf(error) ?? lastCode
      }).on("close", () => {
        lastCode ??= "ConnectionClosed"
      }).on("ready", () => {
        lastCode = undefined
      })
      return { client: connectingOutsideOfCalls(redis, () => isClosed), lastCode: () => lastCode }
    })
  })

/**
 * Before version 7, Redis wraps the error of a command in a script: "ERR Error running script (call to f_…): …: -READONLY You can't …".
 * ioredis wraps the error of a Sentinel: "All sentinels are unreachable …. Last error: NOAUTH …".
 */
const errorReply = /^(?:ERR Error running script .*: -|All sentinels are unreachable.* Last error: (?!ERR ))?([A-Z]+) /

/** The messages of ioredis 5 and 6 about a reply that isn't from Redis, for example from a port that requires TLS. */
const foreignReply = /^(?:Protocol error, got|Unknown RESP type) /

const unexpected = "UnexpectedReply"

/**
 * How the messages of ioredis begin that have no code. It drops the codes of the connections to the Sentinels, and the message is the same
 * if no Sentinel knows the name of the primary.
 */
const codesOfMessages = [
  ["All sentinels are unreachable", "SentinelsUnreachable"],
  ["Connection in subscriber mode", "SubscriberMode"],
  ["Socket timeout", "ETIMEDOUT"],
  ["Command timed out", "ETIMEDOUT"]
] as const

const codeOfMessage = (message: string) => codesOfMessages.find(([start]) => message.startsWith(start))?.[1]

/** Returns the system's error code, or the first word of an error reply of Redis, such as READONLY, OOM or NOAUTH. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  if (foreignReply.test(error.message)) return unexpected
  if ("code" in error) return String(error.code)
  const code = errorReply.exec(error.message)?.[1] ?? codeOfMessage(error.message)
  return code === undefined && "lastNodeError" in error ? codeOf(error.lastNodeError) : code
}

const unavailable = (code: string | undefined) => new SharedTokenCacheError({ reason: "Unavailable", code })

/** The error of a command while there is no connection, for example the first command of a process. It has no code. */
const isWithoutQueue = (error: unknown) =>
  error instanceof Error && error.message.endsWith("enableOfflineQueue options is false")

/** Sends a command. If it wasn't sent, or the connection broke, the error has the code of the connection. */
export const command = (
  { client, lastCode }: Connection,
  name: string,
  ...args: Array<string | number>
): Effect.Effect<unknown, SharedTokenCacheError> =>
  Effect.tryPromise({
    try: () => client.call(name, ...args),
    catch: (error) =>
      unavailable(codeOf(error) ?? lastCode() ?? (isWithoutQueue(error) ? "OfflineQueueDisabled" : undefined))
  })

/** The reply has an unexpected type, so the server is not Redis. */
export const unexpectedReply = Effect.fail(unavailable(unexpected))
