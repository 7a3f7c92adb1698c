/**
 * A SharedTokenCache on Redis or Valkey, single or as a cluster, by ioredis 5 or 6.
 *
 * @since 1.0.0
 * @module
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Redis, type RedisOptions } from "ioredis"
import { check, type Checked, known, namesOf } from "../internal/check.js"
import * as Environment from "../internal/environment.js"
import * as RedisCache from "../internal/redis/cache.js"
import * as Connection from "../internal/redis/connection.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import { type Service, SharedTokenCache } from "../SharedTokenCache.js"

/**
 * Where Redis is, and how ioredis connects to it; only `url` is needed.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** redis:// or, with TLS, rediss://; user, password and database number may be in it. */
  readonly url: Redacted.Redacted<string>
  /** What the keys begin with, without braces; "nutrition-advisor:" by default. */
  readonly prefix?: string | undefined
  /** Settings of ioredis' own, such as `tls`, `username`, `sentinels`; they win over those of this module. */
  readonly redis?: RedisOptions | undefined
}

const names = namesOf<Options>({ url: true, prefix: true, redis: true })

const makeFrom = (
  connection: Connection.Connection,
  { prefix = "nutrition-advisor:" }: Pick<Options, "prefix">
): Checked<Service> =>
  Either.map(check("prefix", [!/[{}]/.test(prefix), "must hold no braces"]), () => RedisCache.make(connection, prefix))

/**
 * A cache over an ioredis client of one's own, a Cluster included; it stays open. Building it ends in ConfigurationError where
 * the prefix is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromClient = (
  client: Connection.Client,
  options: Pick<Options, "prefix"> = {}
): Layer.Layer<SharedTokenCache, ConfigurationError> =>
  Layer.effect(
    SharedTokenCache,
    Effect.suspend(() =>
      Either.flatMap(known(options, ["prefix"]), () => makeFrom({ client, lastError: () => undefined }, options))
    )
  )

/** ioredis repeats in an error what it can't decode. A fragment is the rest of a password that was not encoded. */
const isAddress = (text: string) => {
  try {
    const { hash, password, username } = new URL(text)
    decodeURIComponent(username + password)
    return hash === ""
  } catch {
    return false
  }
}

/** Of a database that is no number, ioredis makes NaN, and an error of Redis that ends the process. */
const hasDatabaseNumber = ({ pathname, searchParams }: URL) =>
  /^\/?\d*\/?$/.test(pathname) && /^\d*$/.test(searchParams.get("db") ?? "")

/** In the spelling that ioredis knows: it finds TLS in "rediss://" only. */
const parseUrl = (text: string): Checked<string> =>
  Either.gen(function*() {
    yield* check(
      "url",
      [/^rediss?:\/\//i.test(text), "must be an address that starts with redis:// or rediss://"],
      [isAddress(text), "is no address: check its port, and percent-encode special characters of its password"]
    )
    const url = new URL(text)
    yield* check("url", [hasDatabaseNumber(url), "must name its database by a number"])
    return url.href
  })

/**
 * A command without a connection fails with the next attempt to make one. That begins within half a second, so that a refused one is
 * told by its code before `cacheTimeout` is over. Keep-alive: a balancer or NAT forgets what is idle for minutes.
 */
const defaults: RedisOptions = {
  connectTimeout: 2_000,
  disconnectTimeout: 100,
  keepAlive: 60_000,
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  retryStrategy: (times) => Math.min(times * 50, 500),
  socketTimeout: 3_000,
  reconnectOnError: ({ message }) => message.startsWith("READONLY")
}

const make = (options: Options): Effect.Effect<Service, ConfigurationError, Scope.Scope> =>
  Effect.gen(function*() {
    yield* known(options, names)
    yield* check("url", [Redacted.isRedacted(options.url), "must be a Redacted"])
    const url = yield* parseUrl(Redacted.value(options.url))
    const { db = 0 } = options.redis ?? {}
    yield* check("redis.db", [Number.isSafeInteger(db), "must be a whole number"])
    const connection = yield* Connection.connected(() => new Redis(url, { ...defaults, ...options.redis }))
    return yield* makeFrom(connection, options)
  })

/**
 * A cache over a connection of its own, which is made at its first use, comes back by itself, and ends with the layer. Building it
 * ends in ConfigurationError where the address or the prefix is wrong.
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

/**
 * A cache with its settings from Config: those that are given, and for the others NUTRITION_ADVISOR_REDIS_URL and, where it is
 * set and not blank, NUTRITION_ADVISOR_REDIS_PREFIX. Building it ends in ConfigError where a setting can't be read, and in
 * ConfigurationError where it is wrong.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options: Partial<Config.Config.Wrap<Options>> = {}
): Layer.Layer<SharedTokenCache, ConfigError.ConfigError | ConfigurationError> =>
  Environment.layerFrom(options, Environment.redis(), layer, Environment.redisVariableOf)
