/**
 * A SharedTokenCache on Redis 7 or Valkey, single or as a cluster, by ioredis.
 *
 * @since 1.0.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RcRef from "effect/RcRef"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Cluster, Redis, type RedisOptions } from "ioredis"
import * as Environment from "../internal/environment.js"
import * as Calls from "../internal/redis/calls.js"
import * as Connection from "../internal/redis/connection.js"
import { ConfigurationError } from "../NutritionAdvisorError.js"
import { type Service, SharedTokenCache } from "../SharedTokenCache.js"

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

const prefixOf = ({ prefix = "nutrition-advisor:" }: PrefixOptions) =>
  /[{}]/.test(prefix)
    ? Effect.fail(new ConfigurationError({ field: "prefix", rule: "must hold no braces" }))
    : Effect.succeed(prefix)

const makeFrom = (
  connection: Connection.Connection,
  options: PrefixOptions
): Effect.Effect<Service, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    const prefix = yield* prefixOf(options)
    const listener = yield* RcRef.make({
      acquire: Connection.connected(() => Connection.listenerTo(connection.client)),
      idleTimeToLive: "30 seconds"
    })
    return {
      ...Calls.make(connection, prefix),
      changes: (name) =>
        Stream.unwrapScoped(
          Effect.map(RcRef.get(listener), (listener) =>
            Connection.changesOf(listener, Calls.keysOf(prefix, name).channel))
        )
    }
  })

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
  Effect.flatMap(Connection.watchedIfListenedTo(client), (connection) => makeFrom(connection, options))

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
    const url = Option.flatMap(Option.liftPredicate(Redacted.value(options.url), hasRedisScheme), redisUrl)
    if (Option.isNone(url)) {
      return yield* new ConfigurationError({
        field: "url",
        rule: "must be an address that starts with redis:// or rediss://"
      })
    }
    const connection = yield* Connection.connected(() => new Redis(url.value, { ...defaults, ...options.redis }))
    return yield* makeFrom(connection, options)
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

const environment = () => ({
  url: Config.redacted(Environment.names.url),
  prefix: Environment.optional("prefix", Environment.text)
})

/**
 * A cache with its settings from Config: those that are given, and for the others NUTRITION_ADVISOR_REDIS_URL and, where it is
 * set, NUTRITION_ADVISOR_REDIS_PREFIX. Building it ends in ConfigError where a setting can't be read, and in ConfigurationError
 * where it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Partial<Config.Config.Wrap<Options>> = {}
): Layer.Layer<SharedTokenCache, ConfigError.ConfigError | ConfigurationError> =>
  Environment.layerFrom(options, environment(), layer)
