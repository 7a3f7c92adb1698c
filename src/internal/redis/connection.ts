import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Redis } from "ioredis"
import { SharedTokenCacheError } from "../../SharedTokenCache.js"

/** What the cache needs of ioredis: a Redis or a Cluster of version 5 or 6. */
export interface Client {
  readonly call: (command: string, ...args: Array<string | number>) => Promise<unknown>
}

/** A client, and the last error of its connection: ioredis tells that as an event, and not with the commands that fail for it. */
export interface Connection {
  readonly client: Client
  readonly lastError: () => unknown
}

/** A connection as long as the scope. ioredis prints the errors of one that nobody listens to, so this listens. */
export const connected = (open: () => Redis): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(Effect.sync(open), (client) => Effect.sync(() => client.disconnect())),
    (client) => {
      let lastError: unknown
      client.on("error", (error: unknown) => {
        lastError = error
      }).on("ready", () => {
        lastError = undefined
      })
      return { client, lastError: () => lastError }
    }
  )

/** What the system calls a failure, or the first word of an error reply of Redis: READONLY, OOM, NOAUTH. */
const wordOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const word = "code" in error ? String(error.code) : /^[A-Z]+(?= )/.exec(error.message)?.[0]
  return word === undefined && "lastNodeError" in error
    ? wordOf(error.lastNodeError)
    : /^\w{1,64}$/.exec(word ?? "")?.[0]
}

const unavailable = (code: string | undefined) => new SharedTokenCacheError({ reason: "Unavailable", code })

/** Sends one command. One that was not even sent, or lost its connection, fails for what the connection met. */
export const call = (
  { client, lastError }: Connection,
  command: string,
  ...args: Array<string | number>
): Effect.Effect<unknown, SharedTokenCacheError> =>
  Effect.tryPromise({
    try: () => client.call(command, ...args),
    catch: (error) => unavailable(wordOf(error) ?? wordOf(lastError()))
  })

/** The reply has an unexpected type, so the server is not Redis. */
export const unexpectedReply = Effect.fail(unavailable("UnexpectedReply"))
