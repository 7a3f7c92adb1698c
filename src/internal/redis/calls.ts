import { isUtf8 } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Cluster, Redis } from "ioredis"
import type { Service } from "../../SharedTokenCache.js"
import { isTooLong, maxBytes } from "../cache/entry.js"
import * as Connection from "./connection.js"

/** The keys of one token share a slot of Redis Cluster: what stands between the braces decides. */
export const keysOf = (prefix: string, name: string) => ({
  token: `${prefix}{${name}}:token`,
  lease: `${prefix}{${name}}:lease`,
  channel: `${prefix}{${name}}:changes`
})

/**
 * What lies under a key: "" where there is nothing, and where there is what no cache has written, another type or more than an
 * entry may have. No more of it is read than the longest entry takes.
 */
const lookup = `
  local function lookup(key)
    local text = redis.pcall("GETRANGE", key, 0, ${maxBytes})
    if type(text) == "string" then return #text > ${maxBytes} and "" or text end
    if string.find(text.err, "WRONGTYPE", 1, true) then return "" end
    return redis.call("GETRANGE", key, 0, 0)
  end`

/** A channel that the user of an ACL may not write to must not make the rest fail: hence pcall. */
const scripts = {
  nutritionAdvisorRead: {
    numberOfKeys: 1,
    lua: `${lookup}
      return lookup(KEYS[1])`
  },
  nutritionAdvisorWrite: {
    numberOfKeys: 1,
    lua: `${lookup}
      if lookup(KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
      redis.pcall("PUBLISH", ARGV[4], "written")
      return 1`
  },
  nutritionAdvisorRemove: {
    numberOfKeys: 1,
    lua: `${lookup}
      if ARGV[1] == "" or lookup(KEYS[1]) ~= ARGV[1] then return 0 end
      return redis.call("DEL", KEYS[1])`
  },
  /** A lease that someone else wrote without an end is given one. */
  nutritionAdvisorLease: {
    numberOfKeys: 1,
    lua: `${lookup}
      local owner = lookup(KEYS[1])
      local remaining = redis.call("PTTL", KEYS[1])
      if owner == "" then owner, remaining = ARGV[1], -1 end
      if remaining < 0 then
        redis.call("SET", KEYS[1], owner, "PX", ARGV[2])
        remaining = tonumber(ARGV[2])
      end
      return { owner, remaining }`
  },
  nutritionAdvisorRelease: {
    numberOfKeys: 1,
    lua: `${lookup}
      if lookup(KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call("DEL", KEYS[1])
      redis.pcall("PUBLISH", ARGV[2], "released")
      return 1`
  }
}

/** Bytes are asked for where an entry is read: what is no UTF-8 would be another entry as a text. */
interface Scripts {
  readonly nutritionAdvisorReadBuffer: (key: string) => Promise<unknown>
  readonly nutritionAdvisorWrite: (
    key: string,
    over: string | Buffer,
    entry: string,
    timeToLive: number,
    channel: string
  ) => Promise<unknown>
  readonly nutritionAdvisorRemove: (key: string, entry: string | Buffer) => Promise<unknown>
  readonly nutritionAdvisorLease: (key: string, owner: string, duration: number) => Promise<unknown>
  readonly nutritionAdvisorRelease: (key: string, owner: string, channel: string) => Promise<unknown>
}

const withScripts = <Client extends Redis | Cluster>(client: Client): Client & Scripts => {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
  return client as Client & Scripts
}

/** Bytes that are no UTF-8 as a text that no other bytes have: an entry that nobody can read must still be replaced. */
const bytesMark = "\u0000bytes:"

const textOf = (bytes: Buffer): string => isUtf8(bytes) ? bytes.toString("utf8") : bytesMark + bytes.toString("base64")

const storedOf = (text: string): string | Buffer =>
  text.startsWith(bytesMark) ? Buffer.from(text.slice(bytesMark.length), "base64") : text

/** What Redis takes for a time: whole milliseconds. */
const wholeMillis = (millis: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.ceil(millis)))

/** A Redis, or what is in its place, that answers something else than the script does. */
const unexpected = () => Connection.unavailable("UnexpectedAnswer")

/** ioredis with `stringNumbers` hands over numbers as texts. */
const Did = Schema.transformLiterals([0, false], [1, true], ["0", false], ["1", true])

const ReadAnswer = Schema.declare((answer: unknown): answer is Buffer => Buffer.isBuffer(answer))

const LeaseAnswer = Schema.Tuple(Schema.String, Schema.Union(Schema.Number, Schema.NumberFromString))

/** The scripts as calls: what Redis answers is decoded, and what it refuses is a failure by one word. */
export const make = (connection: Connection.Connection, prefix: string): Omit<Service, "changes"> => {
  const redis = withScripts(connection.client)

  const call = <A, I>(answer: Schema.Schema<A, I>, send: () => Promise<unknown>) =>
    Effect.tryPromise({ try: send, catch: (error) => Connection.failureOf(error, connection) }).pipe(
      Effect.flatMap((raw) => Effect.mapError(Schema.decodeUnknown(answer)(raw), unexpected))
    )

  return {
    read: (name) =>
      Effect.map(
        call(ReadAnswer, () => redis.nutritionAdvisorReadBuffer(keysOf(prefix, name).token)),
        (bytes) => bytes.length === 0 ? Option.none() : Option.some(textOf(bytes))
      ),
    write: (name, entry, { over, timeToLive }) => {
      const { channel, token } = keysOf(prefix, name)
      const before = storedOf(Option.getOrElse(over, () => ""))
      return isTooLong(entry) ?
        Effect.succeed(false) :
        call(Did, () => redis.nutritionAdvisorWrite(token, before, entry, wholeMillis(timeToLive), channel))
    },
    remove: (name, entry) => call(Did, () => redis.nutritionAdvisorRemove(keysOf(prefix, name).token, storedOf(entry))),
    lease: (name, owner, duration) =>
      Effect.map(
        call(LeaseAnswer, () => redis.nutritionAdvisorLease(keysOf(prefix, name).lease, owner, wholeMillis(duration))),
        ([owner, remaining]) => ({ owner, remaining })
      ),
    release: (name, owner) => {
      const { channel, lease } = keysOf(prefix, name)
      return call(Did, () => redis.nutritionAdvisorRelease(lease, owner, channel))
    }
  }
}
