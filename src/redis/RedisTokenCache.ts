/**
 * A SharedTokenCache on Redis or Valkey, standalone or as a cluster, with ioredis 5 or 6.
 *
 * @since 1.0.0
 * @module
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { Redis, type RedisOptions } from "ioredis"
import { check, type Checked, checkValue } from "../internal/options/check.js"
import { type Declarations, parse } from "../internal/options/declarations.js"
import * as Environment from "../internal/options/environment.js"
import * as RedisCache from "../internal/redis/cache.js"
import * as Connection from "../internal/redis/connection.js"
import { hasMethod } from "../internal/runtime/hasMethod.js"
import type { ConfigurationError } from "../NutritionAdvisorError.js"
import { SharedTokenCache } from "../SharedTokenCache.js"

/**
 * The options of the cache: the address of Redis, and how ioredis connects to it. Only `url` is required.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options {
  /** The URL of Redis: redis://, or rediss:// for TLS. It may include a user name, a password and a database number. */
  readonly url: Redacted.Redacted<string>
  /** The prefix of all keys. It must not contain braces. "nutrition-advisor:" by default. */
  readonly prefix?: string | undefined
  /** Options of ioredis, such as `tls`, `username` or `sentinels`. They override the defaults of this module. */
  readonly redis?: RedisOptions | undefined
}

/**
 * The part of your own ioredis client that the cache uses. `Redis` and `Cluster` of ioredis 5 and 6 have it.
 *
 * @since 1.0.0
 * @category models
 */
export interface Client {
  /** Sends a command with its arguments, and returns the reply. */
  readonly call: (command: string, ...args: Array<string | number>) => Promise<unknown>
}

/**
 * Checks the URL before ioredis does, because the error of ioredis would contain the password. If the URL has a fragment, the password
 * contains a `#` that isn't encoded.
 */
const isAddress = (text: string) => {
  try {
    const { hash, password, username } = new URL(text)
    decodeURIComponent(username + password)
    return hash === ""
  } catch {
    return false
  }
}

/** If the database is not a number, ioredis selects NaN, and the error of Redis terminates the process. */
const hasDatabaseNumber = ({ pathname, searchParams }: URL) =>
  /^\/?\d*\/?$/.test(pathname) && /^\d*$/.test(searchParams.get("db") ?? "")

/** ioredis passes the options of a URL on as strings. If this timeout is a string, Node throws, which terminates the process. */
const hasConnectTimeout = ({ searchParams }: URL) => searchParams.has("connectTimeout")

/** Normalizes the URL, because ioredis detects TLS only if the scheme is spelled "rediss://". */
const parseUrl = (secret: Redacted.Redacted<string>, field: string): Checked<string> =>
  Either.gen(function*() {
    yield* check(field, [Redacted.isRedacted(secret), "must be a Redacted"])
    const text = Redacted.value(secret)
    yield* check(
      field,
      [/^rediss?:\/\//i.test(text), "must be a URL that starts with redis:// or rediss://"],
      [isAddress(text), "must be a valid URL: check its port, and percent-encode special characters in its password"]
    )
    const url = new URL(text)
    yield* check(
      field,
      [hasDatabaseNumber(url), "must have a whole number as its database"],
      [!hasConnectTimeout(url), "must not set connectTimeout: set it in the option redis"]
    )
    return url.href
  })

const defaults: RedisOptions = {
  connectTimeout: 2_000,
  // Otherwise, if a server rejects the connection, ioredis ignores why: the reply is that of CLIENT SETINFO, its first command.
  disableClientInfo: true,
  disconnectTimeout: 100,
  // Over Sentinel, ioredis would connect to the primary without TLS, even with rediss:// or `tls`.
  enableTLSForSentinelMode: true,
  // By default, ioredis 5.4 looks up only IPv4 addresses.
  family: 0,
  // Load balancers and NATs drop connections that are idle for minutes.
  keepAlive: 60_000,
  lazyConnect: true,
  // A command without a connection fails if the next connection attempt fails, or if no Sentinel responds.
  maxRetriesPerRequest: 0,
  sentinelRetryStrategy: () => null,
  // The next attempt starts within half a second, so that its code is known before `cacheTimeout` ends.
  retryStrategy: (times) => Math.min(times * 50, 500),
  socketTimeout: 3_000,
  // Before version 7, Redis wraps the errors of scripts.
  reconnectOnError: ({ message }) => message.includes("READONLY")
}

const parseRedis = (redis: RedisOptions, field: string): Checked<RedisOptions> =>
  Either.gen(function*() {
    yield* check(`${field}.db`, [Number.isSafeInteger(redis.db ?? 0), "must be a whole number"])
    const timeout = redis.connectTimeout ?? 0
    yield* check(`${field}.connectTimeout`, [
      Number.isFinite(timeout) && timeout >= 0,
      "must be a number of milliseconds"
    ])
    return redis
  })

/** @internal */
export const declarations = {
  url: {
    isRequired: true,
    parse: parseUrl,
    variable: "requiredSecret"
  },
  prefix: {
    default: "nutrition-advisor:",
    parse: (prefix, field) => checkValue(prefix, field, [!/[{}]/.test(prefix), "must not contain braces"]),
    variable: "text"
  },
  redis: { default: {}, parse: parseRedis }
} satisfies Declarations<Options>

/**
 * Provides a cache on your own ioredis client, which may be a Cluster. The layer never closes it. Fails with ConfigurationError if the
 * prefix is invalid, or if the client is undefined or from another package, such as node-redis or ioredis-mock.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerFromClient = (
  client: Client,
  options: Pick<Options, "prefix"> = {}
): Layer.Layer<SharedTokenCache, ConfigurationError> =>
  Layer.effect(
    SharedTokenCache,
    Effect.suspend(() =>
      // Many programs create their client on first use, through a Proxy of an empty object, so the layer must not use it yet.
      check("client", [
        Predicate.isObject(client) && (!hasMethod(client, "get") || hasMethod(client, "call")),
        "has no method named call: use an ioredis client"
      ]).pipe(
        Either.andThen(() => parse({ prefix: declarations.prefix }, options)),
        Either.map(({ prefix }) => RedisCache.make({ client, lastCode: () => undefined }, prefix))
      )
    )
  )

/**
 * Provides a cache with its own connection. It connects on first use, reconnects automatically, and disconnects with the layer. Fails
 * with ConfigurationError if an option is invalid.
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
  Layer.scoped(
    SharedTokenCache,
    Effect.gen(function*() {
      const { prefix, redis, url } = yield* parse(declarations, options)
      const connection = yield* Connection.open(() => new Redis(url, { ...defaults, ...redis }))
      return RedisCache.make(connection, prefix)
    })
  )

/**
 * Provides a cache with options from Config. An option that you don't pass is read from its environment variable:
 * `NUTRITION_ADVISOR_REDIS_URL` and, if it is not blank, `NUTRITION_ADVISOR_REDIS_PREFIX`. Fails with ConfigError if a variable is missing,
 * and with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerConfig = (
  options:
    | Partial<Config.Config.Wrap<Options>>
    | { readonly [K in keyof Options]?: Config.Config.Wrap<Options[K]> | undefined } = {}
): Layer.Layer<SharedTokenCache, ConfigError.ConfigError | ConfigurationError> =>
  Environment.layerFromConfig(options, declarations, layer, (field) => Environment.variableOf(`redis_${field}`))
