/**
 * A SharedTokenCache on Redis 7 or Valkey, single or as a cluster, by ioredis.
 *
 * @since 1.0.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import { pipe } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RcRef from "effect/RcRef"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Cluster, Redis, type RedisOptions } from "ioredis"
import { ConfigurationError } from "../NutritionAdvisorError.js"
import { type Service, SharedTokenCache, SharedTokenCacheError } from "../SharedTokenCache.js"

/**
 * How the keys in Redis are named.
 *
 * @since 1.0.0
 * @category models
 */
export interface PrefixOptions {
  /** What the keys begin with, without braces; "nutrition-advisor:" by default. */
  readonly prefix?: string | undefined
}

/**
 * Where Redis is, and how ioredis connects to it; only `url` is needed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends PrefixOptions {
  /** redis:// or, with TLS, rediss://; user, password and database number may be in it. */
  readonly url: Redacted.Redacted<string>
  /** Settings of ioredis' own, such as `tls`, `username`, `sentinels`; they win over those of this module. */
  readonly redis?: RedisOptions | undefined
}

/** The keys of one token share a slot of Redis Cluster: what stands between the braces decides. */
const keysOf = (prefix: string, name: string) => ({
  token: `${prefix}{${name}}:token`,
  lease: `${prefix}{${name}}:lease`,
  channel: `${prefix}{${name}}:changes`
})

/** A channel that the user of an ACL may not write to must not make the rest fail: hence pcall. */
const scripts = {
  nutritionAdvisorRead: {
    numberOfKeys: 1,
    lua: `return redis.call("GET", KEYS[1])`
  },
  nutritionAdvisorWrite: {
    numberOfKeys: 1,
    lua: `
      if (redis.call("GET", KEYS[1]) or "") ~= ARGV[1] then return 0 end
      redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])
      redis.pcall("PUBLISH", ARGV[4], "written")
      return 1`
  },
  nutritionAdvisorRemove: {
    numberOfKeys: 1,
    lua: `
      if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
      return redis.call("DEL", KEYS[1])`
  },
  nutritionAdvisorLease: {
    numberOfKeys: 1,
    lua: `
      redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
      return { redis.call("GET", KEYS[1]), redis.call("PTTL", KEYS[1]) }`
  },
  nutritionAdvisorRelease: {
    numberOfKeys: 1,
    lua: `
      if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call("DEL", KEYS[1])
      redis.pcall("PUBLISH", ARGV[2], "released")
      return 1`
  }
}

interface Scripts {
  readonly nutritionAdvisorRead: (key: string) => Promise<string | null>
  readonly nutritionAdvisorWrite: (
    key: string,
    over: string,
    entry: string,
    timeToLive: number,
    channel: string
  ) => Promise<number>
  readonly nutritionAdvisorRemove: (key: string, entry: string) => Promise<number>
  readonly nutritionAdvisorLease: (key: string, owner: string, duration: number) => Promise<[string, number]>
  readonly nutritionAdvisorRelease: (key: string, owner: string, channel: string) => Promise<number>
}

const withScripts = <Client extends Redis | Cluster>(client: Client): Client & Scripts => {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
  return client as Client & Scripts
}

/** What the system or ioredis calls the failure, or the first word of what Redis answers: READONLY, OOM, NOAUTH. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const words = [
    "code" in error ? error.code : undefined,
    /^[A-Z]+(?= )/.exec(error.message)?.[0],
    /^\w+Error$/.exec(error.name)?.[0]
  ]
  return words.find((word): word is string => typeof word === "string" && /^\w{1,40}$/.test(word))
}

const unavailable = (error: unknown) => new SharedTokenCacheError({ reason: "Unavailable", code: codeOf(error) })

const request = <A>(send: () => Promise<A>): Effect.Effect<A, SharedTokenCacheError> =>
  Effect.tryPromise({ try: send, catch: unavailable })

/** ioredis prints the errors of a connection where nobody listens; a command that fails says what matters. */
const ignored = () => {}

const connected = <Client extends Redis | Cluster>(open: () => Client): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const client = open()
      client.on("error", ignored)
      return client
    }),
    (client) => Effect.sync(() => client.disconnect())
  )

const prefixOf = ({ prefix = "nutrition-advisor:" }: PrefixOptions) =>
  /[{}]/.test(prefix) ? Effect.fail(new ConfigurationError({ field: "prefix" })) : Effect.succeed(prefix)

/** Its subscriptions are taken up again here: ioredis leaves one that it can't take up as a rejected promise without a catch. */
const listening = { autoResubscribe: false, enableOfflineQueue: true }

const listenerTo = (client: Redis | Cluster): Redis | Cluster => {
  const listener = "nodes" in client ? client.duplicate([], listening) : client.duplicate(listening)
  return listener.setMaxListeners(0)
}

/**
 * A cache over an ioredis client of one's own, a Cluster included; it stays open. For the time of a wait, and half a minute
 * longer, a duplicate of the client listens for changes. Ends in ConfigurationError where the prefix is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const makeFromClient = (
  client: Redis | Cluster,
  options: PrefixOptions = {}
): Effect.Effect<Service, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const prefix = yield* prefixOf(options)
    const redis = withScripts(client)
    const listener = yield* RcRef.make({
      acquire: connected(() => listenerTo(client)),
      idleTimeToLive: "30 seconds"
    })

    const changes: Service["changes"] = (name) =>
      Stream.unwrapScoped(Effect.map(RcRef.get(listener), (listener) => {
        const { channel } = keysOf(prefix, name)
        return Stream.asyncPush<undefined, SharedTokenCacheError>(
          (emit) =>
            Effect.acquireRelease(
              Effect.sync(() => {
                const onMessage = (heard: string) => {
                  if (heard === channel) emit.single(undefined)
                }
                let hasBegun = false
                const onReady = () => {
                  if (hasBegun) listener.subscribe(channel).then(() => emit.single(undefined), ignored)
                }
                listener.on("message", onMessage).on("ready", onReady)
                listener.subscribe(channel).then(
                  () => {
                    hasBegun = true
                    emit.single(undefined)
                  },
                  (error: unknown) => emit.fail(unavailable(error))
                )
                return { onMessage, onReady }
              }),
              ({ onMessage, onReady }) => Effect.sync(() => listener.off("message", onMessage).off("ready", onReady))
            ),
          { bufferSize: 1, strategy: "sliding" }
        )
      }))

    return {
      read: (name) =>
        Effect.map(request(() => redis.nutritionAdvisorRead(keysOf(prefix, name).token)), Option.fromNullable),
      write: (name, entry, { over, timeToLive }) =>
        Effect.map(
          request(() => {
            const { channel, token } = keysOf(prefix, name)
            return redis.nutritionAdvisorWrite(token, Option.getOrElse(over, () => ""), entry, timeToLive, channel)
          }),
          (written) => written === 1
        ),
      remove: (name, entry) =>
        Effect.map(
          request(() => redis.nutritionAdvisorRemove(keysOf(prefix, name).token, entry)),
          (removed) => removed === 1
        ),
      lease: (name, owner, duration) =>
        Effect.map(
          request(() => redis.nutritionAdvisorLease(keysOf(prefix, name).lease, owner, duration)),
          ([holder, remaining]) => ({ owner: holder, remaining })
        ),
      release: (name, owner) =>
        Effect.map(
          request(() => {
            const { channel, lease } = keysOf(prefix, name)
            return redis.nutritionAdvisorRelease(lease, owner, channel)
          }),
          (released) => released === 1
        ),
      changes
    }
  })

/**
 * A cache over an ioredis client of one's own, a Cluster included. Building it ends in ConfigurationError where the prefix is
 * wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromClient = (
  client: Redis | Cluster,
  options?: PrefixOptions
): Layer.Layer<SharedTokenCache, ConfigurationError> => Layer.scoped(SharedTokenCache, makeFromClient(client, options))

/** In the spelling that ioredis knows: it finds TLS in "rediss://" only, and repeats in an error what it can't decode. */
const redisUrl = Option.liftThrowable((text: string): string => {
  const { href, password, username } = new URL(text)
  decodeURIComponent(username + password)
  return href
})

const hasRedisScheme = (text: string) => /^rediss?:\/\//i.test(text)

/** A command that meets no connection fails at once instead of waiting in a queue, to be run when nobody needs it. */
const defaults: RedisOptions = {
  connectTimeout: 2_000,
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  socketTimeout: 3_000,
  reconnectOnError: ({ message }) => message.startsWith("READONLY")
}

/**
 * A cache over a connection of its own, which is made at its first use, comes back by itself, and ends with the scope. Ends in
 * ConfigurationError where the address or the prefix is wrong.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const url = yield* pipe(
      Option.liftPredicate(Redacted.value(options.url), hasRedisScheme),
      Option.flatMap(redisUrl),
      Effect.mapError(() => new ConfigurationError({ field: "url" }))
    )
    const client = yield* connected(() => new Redis(url, { ...defaults, ...options.redis }))
    return yield* makeFromClient(client, options)
  })

/**
 * A cache over a connection of its own. Building it ends in ConfigurationError where the address or the prefix is wrong, and
 * does not connect.
 *
 * @example
 * ```ts
 * import { Redacted } from "effect"
 * import { RedisTokenCache } from "effect-nutrition-advisor/redis"
 *
 * export const Cache = RedisTokenCache.layer({
 *   url: Redacted.make("rediss://redis.example:6380"),
 *   prefix: "shop:nutrition-advisor:"
 * })
 * ```
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<SharedTokenCache, ConfigurationError> =>
  Layer.scoped(SharedTokenCache, make(options))

const environment = (): Config.Config<Options> =>
  Config.all({
    url: Config.redacted("NUTRITION_ADVISOR_REDIS_URL"),
    prefix: Config.map(Config.option(Config.string("NUTRITION_ADVISOR_REDIS_PREFIX")), Option.getOrUndefined)
  })

/**
 * A cache with its settings from Config. With no argument it reads NUTRITION_ADVISOR_REDIS_URL and, where it is set,
 * NUTRITION_ADVISOR_REDIS_PREFIX. Building it ends in ConfigError where a setting can't be read, and in ConfigurationError where
 * it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options> = environment()
): Layer.Layer<SharedTokenCache, ConfigError.ConfigError | ConfigurationError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
