import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Cluster, Redis } from "ioredis"
import { SharedTokenCacheError } from "../../SharedTokenCache.js"

/** What a connection met last: ioredis tells it as an event, and not with the commands that fail for it. */
export interface Connection {
  readonly client: Redis | Cluster
  readonly lastError: () => unknown
}

/** ioredis prints the errors of a connection where nobody listens, so this listens; a command that fails says what matters. */
const watched = (client: Redis | Cluster) => {
  let lastError: unknown
  const onError = (error: unknown) => {
    lastError = error
  }
  const onReady = () => {
    lastError = undefined
  }
  client.on("error", onError).on("ready", onReady)
  return {
    client,
    lastError: () => lastError,
    unwatch: () => {
      client.off("error", onError).off("ready", onReady)
    }
  }
}

/** The same for a client of the user's, as long as the scope; where nobody listens to it, it goes on printing its errors. */
export const watchedIfListenedTo = (client: Redis | Cluster): Effect.Effect<Connection, never, Scope.Scope> =>
  client.listenerCount("error") === 0
    ? Effect.succeed({ client, lastError: () => undefined })
    : Effect.acquireRelease(Effect.sync(() => watched(client)), ({ unwatch }) => Effect.sync(unwatch))

export const connected = (open: () => Redis | Cluster): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => watched(open())),
    ({ client }) => Effect.sync(() => client.disconnect())
  )

const isWord = (word: unknown): word is string => typeof word === "string" && /^\w{1,40}$/.test(word)

/** What the system calls a failure, or the first word of what Redis answers: READONLY, OOM, NOAUTH. */
const wordOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  return [
    "code" in error ? error.code : undefined,
    /^[A-Z]+(?= )/.exec(error.message)?.[0],
    "lastNodeError" in error ? wordOf(error.lastNodeError) : undefined
  ].find(isWord)
}

export const unavailable = (code: string | undefined) => new SharedTokenCacheError({ reason: "Unavailable", code })

/** A command that was not even sent, or lost its connection, fails for what the connection met. */
export const failureOf = (error: unknown, { lastError }: Connection): SharedTokenCacheError =>
  unavailable(wordOf(error) ?? wordOf(lastError()) ?? "ConnectionClosed")

/** Its subscriptions are taken up again here: ioredis leaves one that it can't take up as a rejected promise without a catch. */
const listening = { autoResubscribe: false, enableOfflineQueue: true }

export const listenerTo = (client: Redis | Cluster): Redis | Cluster => {
  const listener = "nodes" in client ? client.duplicate([], listening) : client.duplicate(listening)
  return listener.setMaxListeners(0)
}

/** An element once the subscription stands, after each message of its channel, and whenever the connection has come back. */
export const changesOf = (
  { client, lastError }: Connection,
  channel: string
): Stream.Stream<void, SharedTokenCacheError> =>
  Stream.asyncPush<undefined, SharedTokenCacheError>(
    (emit) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const onMessage = (heard: string) => {
            if (heard === channel) emit.single(undefined)
          }
          let hasBegun = false
          const onReady = () => {
            if (hasBegun) client.subscribe(channel).then(() => emit.single(undefined), () => {})
          }
          client.on("message", onMessage).on("ready", onReady)
          client.subscribe(channel).then(
            () => {
              hasBegun = true
              emit.single(undefined)
            },
            (error: unknown) => emit.fail(failureOf(error, { client, lastError }))
          )
          return { onMessage, onReady }
        }),
        ({ onMessage, onReady }) => Effect.sync(() => client.off("message", onMessage).off("ready", onReady))
      ),
    { bufferSize: 1, strategy: "sliding" }
  )
