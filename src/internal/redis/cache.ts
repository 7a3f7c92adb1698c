import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Service, SharedTokenCacheError } from "../../SharedTokenCache.js"
import { command, type Connection, unexpectedReply } from "./connection.js"

/** Sealed tokens are a few hundred to a few thousand characters long. A longer entry is cut when it is read, and can't be decrypted. */
const maxEntryLength = 16 * 1024

/** This is a script like the others, so that a server that rejects scripts never grants a lease that can't be released. */
const leaseScript = `return redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX")`

const writeScript = `
  if redis.call("GET", KEYS[2]) ~= ARGV[1] then return 0 end
  redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
  return 1`

const releaseScript = `
  if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call("DEL", KEYS[1])`

const replyAs =
  (yes: ReadonlyArray<unknown>, no: ReadonlyArray<unknown>) =>
  (reply: unknown): Effect.Effect<boolean, SharedTokenCacheError> => {
    if (yes.includes(reply)) return Effect.succeed(true)
    return no.includes(reply) ? Effect.succeed(false) : unexpectedReply
  }

/** Whether a script wrote the entry. With the option `stringNumbers`, ioredis returns numbers as strings. */
const parseWritten = replyAs([1, "1"], [0, "0"])

/** Whether a conditional SET took the lease. */
const parseLeased = replyAs(["OK"], [null])

const parseEntry = (reply: unknown): Effect.Effect<Option.Option<string>, SharedTokenCacheError> =>
  typeof reply === "string" ? Effect.succeed(Option.liftPredicate(reply, (text) => text !== "")) : unexpectedReply

/**
 * The two keys of a name are in the same slot of a Redis Cluster, which hashes only the part between the braces. Commands are in lower case,
 * because ioredis before 5.9 adds `keyPrefix` only to the keys of such commands. Redis accepts only whole milliseconds.
 */
export const make = (connection: Connection, prefix: string): Service => {
  const tokenKey = (name: string) => `${prefix}{${name}}:token`
  const leaseKey = (name: string) => `${prefix}{${name}}:lease`

  return {
    read: (name) => Effect.flatMap(command(connection, "getrange", tokenKey(name), 0, maxEntryLength), parseEntry),
    write: (name, entry, { owner, timeToLive }) => {
      const keys = [tokenKey(name), leaseKey(name)]
      const values = [owner, entry, Math.ceil(timeToLive)]
      return Effect.flatMap(command(connection, "eval", writeScript, keys.length, ...keys, ...values), parseWritten)
    },
    lease: (name, owner, duration) =>
      Effect.flatMap(
        command(connection, "eval", leaseScript, 1, leaseKey(name), owner, Math.ceil(duration)),
        parseLeased
      ),
    release: (name, owner) => Effect.asVoid(command(connection, "eval", releaseScript, 1, leaseKey(name), owner))
  }
}
