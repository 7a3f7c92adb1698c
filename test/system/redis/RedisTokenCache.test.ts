import { AsyncLocalStorage } from "node:async_hooks"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { inspect } from "node:util"
import { describe, expect, vi } from "@effect/vitest"
import { Config, ConfigProvider, Context, Effect, Inspectable, Layer, Option, Redacted } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import * as Five from "ioredis"
import * as Oldest from "ioredis-5-4"
import * as Six from "ioredis-6"
import { laws } from "../../shared/cacheLaws.js"
import { arrangedLive, test, testLive } from "../../support/doubles/arranged.js"
import { freePort, listening } from "../../support/doubles/Wire.js"
import * as RedisServer from "./RedisServer.js"

const { describeWithRedis, opened } = RedisServer

type Settings = Pick<
  Oldest.RedisOptions,
  "port" | "keyPrefix" | "stringNumbers" | "enableAutoPipelining" | "commandTimeout"
>

const host = "127.0.0.1"

/** Of your own client. */
const versions = [
  {
    version: "ioredis 5.4.1",
    redis: (options: Settings) => new Oldest.Redis({ host, ...options }),
    Cluster: Oldest.Cluster
  },
  { version: "ioredis 5", redis: (options: Settings) => new Five.Redis({ host, ...options }), Cluster: Five.Cluster },
  { version: "ioredis 6", redis: (options: Settings) => new Six.Redis({ host, ...options }), Cluster: Six.Cluster }
]

const name = "name-1"

const minute = 60_000

const first = { owner: "first", timeToLive: minute }

/** A cache for the time of the scope. */
const cacheOf = (layer: Layer.Layer<SharedTokenCache.SharedTokenCache, unknown>) =>
  Effect.map(Layer.build(layer), Context.get(SharedTokenCache.SharedTokenCache))

const keysOf = ({ command }: RedisServer.RedisServer) =>
  Effect.map(command("KEYS", "*"), (keys) => Array.isArray(keys) ? keys.map(String).sort() : [])

/** An entry under a lease. */
const written = (cache: SharedTokenCache.Service, of = name) =>
  Effect.zipRight(cache.lease(of, "first", minute), cache.write(of, "one", first))

const onRedis = arrangedLive(Effect.suspend(() => RedisServer.make()), Layer.empty)

describeWithRedis("RedisTokenCache", () => {
  for (const { Cluster, redis, version } of versions) {
    onRedis.each(laws)(`%s (${version})`, function*([, holds], { port }) {
      const client = yield* opened(() => redis({ port }))
      const cache = yield* cacheOf(RedisTokenCache.layerFromClient(client))
      yield* Effect.gen(() => holds(cache, Effect.sleep))
    })

    onRedis.each([
      { stringNumbers: true },
      { enableAutoPipelining: true },
      { commandTimeout: 5_000 }
    ])(
      `layerFromClient works with a client that has a keyPrefix and %j (${version})`,
      function*(options, server) {
        const client = yield* opened(() => redis({ port: server.port, keyPrefix: "app:", ...options }))
        const keys = yield* Effect.scoped(Effect.gen(function*() {
          const cache = yield* cacheOf(RedisTokenCache.layerFromClient(client, { prefix: "p:" }))
          expect(yield* written(cache)).toBe(true)
          expect(yield* cache.read(name)).toEqual(Option.some("one"))
          const whileLeased = yield* keysOf(server)
          yield* cache.release(name, "first")
          return [whileLeased, yield* keysOf(server)]
        }))
        expect(keys).toEqual([[`app:p:{${name}}:lease`, `app:p:{${name}}:token`], [`app:p:{${name}}:token`]])
        expect(yield* Effect.promise(() => client.call("PING"))).toBe("PONG")
      }
    )

    testLive(`both keys of a name are in the same slot of a cluster (${version})`, function*() {
      const server = yield* RedisServer.makeCluster
      const client = yield* opened(() => new Cluster([{ host, port: server.port }]))
      const cache = yield* cacheOf(RedisTokenCache.layerFromClient(client))
      const names = Array.from({ length: 30 }, (_, index) => `name-${index}`)
      expect(yield* Effect.forEach(names, (name) => written(cache, name))).toEqual(names.map(() => true))
      expect(yield* keysOf(server)).toHaveLength(60)
    })
  }

  onRedis("layer opens one connection and closes it on shutdown", function*(server) {
    const clients = Effect.map(server.command("CLIENT", "LIST"), (list) => String(list).trim().split("\n").length)
    const [before, meanwhile] = yield* Effect.scoped(
      Effect.gen(function*() {
        const before = yield* clients
        yield* written(yield* cacheOf(RedisTokenCache.layer({ url: server.url })))
        return [before, yield* clients]
      })
    )
    yield* Effect.repeat(clients, { until: (count) => count === before }).pipe(Effect.timeout("5 seconds"))
    expect(before).toBe(1)
    expect(meanwhile).toBe(2)
  })

  onRedis.each(Object.entries({ "5-4": Oldest, "6": Six }))(
    "layer works with ioredis-%s",
    function*([id, module], server) {
      const connect = vi.spyOn(module.Redis.prototype, "connect")
      vi.doMock("ioredis", () => module)
      yield* Effect.addFinalizer(() => Effect.sync(() => [vi.doUnmock("ioredis"), connect.mockRestore()]))
      const path = `../../../src/redis/RedisTokenCache.js?${id}`
      const { layer }: typeof RedisTokenCache = yield* Effect.promise(() => import(/* @vite-ignore */ path))
      const cache = yield* cacheOf(layer({ url: server.url }))
      expect(yield* written(cache)).toBe(true)
      expect(yield* cache.read(name)).toEqual(Option.some("one"))
      expect(connect.mock.contexts).toMatchObject([{ options: { enableTLSForSentinelMode: true, family: 0 } }])
    }
  )

  onRedis("an oversized entry is not read completely", function*(server) {
    yield* server.command("SET", `nutrition-advisor:{${name}}:token`, "A".repeat(1_000_000))
    const cache = yield* cacheOf(RedisTokenCache.layer({ url: server.url }))
    yield* cache.read(name)
    const sent = Effect.map(
      server.command("INFO", "stats"),
      (stats) => Number(/total_net_output_bytes:(\d+)/.exec(String(stats))?.[1])
    )
    const before = yield* sent
    yield* cache.read(name)
    expect((yield* sent) - before).toBeLessThan(40_000)
  })

  onRedis("an ACL user with the rules of docs/sharing.md can make every call", function*(server) {
    const rules = readFileSync(new URL("../../../docs/sharing.md", import.meta.url), "utf8")
      .match(/'~nutrition-advisor:\*' -@all .*$/m)?.[0].replaceAll("'", "").split(" ") ?? []
    yield* server.command("ACL", "SETUSER", "advisor", "on", ">secret", "resetkeys", "resetchannels", ...rules)
    const url = Redacted.make(`redis://advisor:secret@127.0.0.1:${server.port}`)
    const cache = yield* cacheOf(RedisTokenCache.layer({ url }))
    expect(yield* written(cache)).toBe(true)
    yield* cache.release(name, "first")
    expect(yield* cache.read(name)).toEqual(Option.some("one"))
  })

  onRedis("layerConfig reads the URL from its variable, and a given prefix overrides its variable", function*(server) {
    const variables = new Map([
      ["NUTRITION_ADVISOR_REDIS_URL", Redacted.value(server.url)],
      ["NUTRITION_ADVISOR_REDIS_PREFIX", "ours:"]
    ])
    const layer = RedisTokenCache.layerConfig({ prefix: Config.succeed("given:") })
    yield* written(yield* Effect.withConfigProvider(cacheOf(layer), ConfigProvider.fromMap(variables)))
    expect(yield* keysOf(server)).toEqual([`given:{${name}}:lease`, `given:{${name}}:token`])
  })
})

describeWithRedis("RedisTokenCache: failed call", () => {
  onRedis.each<readonly [string, (server: RedisServer.RedisServer) => Effect.Effect<unknown>]>([
    ["ECONNREFUSED", ({ kill }) => kill],
    ["READONLY", ({ command }) => command("REPLICAOF", "127.0.0.1", 1)],
    ["OOM", ({ command }) => command("CONFIG", "SET", "maxmemory", "1")],
    ["NOAUTH", ({ command }) => command("CONFIG", "SET", "requirepass", "x")],
    ["NOPERM", ({ command }) => command("ACL", "SETUSER", "default", "-eval")]
  ])("the error has the code %s", function*([code, happens], server) {
    const cache = yield* cacheOf(RedisTokenCache.layer({ url: server.url }))
    yield* happens(server)
    expect(yield* Effect.flip(cache.lease(name, "first", minute))).toMatchObject({ reason: "Unavailable", code })
  })

  testLive("the connection doesn't keep the AsyncLocalStorage context of the first call", function*() {
    const port = yield* freePort
    const storage = new AsyncLocalStorage<string>()
    const contexts: Array<string | undefined> = []
    const retryStrategy = () => {
      contexts.push(storage.getStore())
      return null
    }
    const cache = yield* cacheOf(
      RedisTokenCache.layer({ url: Redacted.make(`redis://127.0.0.1:${port}`), redis: { retryStrategy } })
    )
    const failed = () => Effect.runPromise(Effect.flip(cache.read(name)))
    expect(yield* Effect.promise(() => storage.run("request-1", failed))).toMatchObject({ code: "ECONNREFUSED" })
    expect(contexts).toEqual([undefined])
  })

  onRedis.each<readonly [string, Five.RedisOptions, (redis: Five.Redis) => Promise<unknown>]>([
    ["SubscriberMode", {}, (redis) => redis.subscribe("channel")],
    ["OfflineQueueDisabled", { enableOfflineQueue: false }, () => Promise.resolve()],
    ["ETIMEDOUT", { commandTimeout: 100 }, (redis) => redis.call("CLIENT", "PAUSE", 5_000)]
  ])("the error of your own client has the code %s", function*([code, options, happens], { port }) {
    const client = yield* opened(() => new Five.Redis({ host, port, ...options }))
    yield* Effect.promise(() => happens(client))
    const cache = yield* cacheOf(RedisTokenCache.layerFromClient(client))
    expect(yield* Effect.flip(cache.read(name))).toMatchObject({ reason: "Unavailable", code })
  })

  testLive.each([
    ["responds to a command", "redis"],
    ["completes the TLS handshake", "rediss"]
  ])("the call fails after a few seconds if the server never %s", function*([, protocol]) {
    const port = yield* listening(createServer())
    const cache = yield* cacheOf(RedisTokenCache.layer({ url: Redacted.make(`${protocol}://127.0.0.1:${port}`) }))
    const error = yield* Effect.flip(cache.read(name)).pipe(Effect.timeout("8 seconds"))
    expect(error).toMatchObject({ _tag: "SharedTokenCacheError", reason: "Unavailable", code: "ETIMEDOUT" })
  })

  testLive.each<readonly [string, string]>([
    ["DENIED", "-DENIED Redis is running in protected mode because protected mode is enabled\r\n"],
    ["ConnectionClosed", ""]
  ])("the error has the code %s if the server closes each new connection after sending %j", function*([code, reply]) {
    const port = yield* listening(createServer((socket) => socket.end(reply)))
    const cache = yield* cacheOf(RedisTokenCache.layer({ url: Redacted.make(`redis://${host}:${port}`) }))
    expect(yield* Effect.flip(cache.read(name))).toMatchObject({ reason: "Unavailable", code })
  })

  /** The first byte of a TLS connection. */
  const tlsHandshake = 0x16

  /** A cache whose Sentinel, if it is up, names the server on this port as the primary. */
  const cacheOverSentinel = (url: Redacted.Redacted<string>, port: number, isUp: () => boolean) =>
    Effect.gen(function*() {
      const sentinel = createServer((socket) => {
        if (!isUp()) socket.destroy()
        RedisServer.replying(socket, (command) => command === "sentinel" ? `*2\r\n+${host}\r\n+${port}` : "+OK")
      })
      const redis = { name: "primary", sentinels: [{ host, port: yield* listening(sentinel) }], updateSentinels: false }
      return yield* cacheOf(RedisTokenCache.layer({ url, redis }))
    })

  testLive("a call fails immediately while no Sentinel responds, and a later one connects again", function*() {
    const { port, url } = yield* RedisServer.make()
    let isUp = false
    const cache = yield* cacheOverSentinel(url, port, () => isUp)
    expect(yield* Effect.flip(cache.read(name))).toMatchObject({ reason: "Unavailable", code: "SentinelsUnreachable" })
    isUp = true
    expect(yield* cache.read(name)).toEqual(Option.none())
  })

  testLive("over Sentinel, the primary gets a TLS handshake if the URL is rediss://", function*() {
    const received: Array<Buffer> = []
    const primary = createServer((socket) =>
      socket.once("data", (bytes) => {
        received.push(bytes)
        socket.destroy()
      })
    )
    const url = Redacted.make(`rediss://advisor:secret-1@${host}`)
    const cache = yield* cacheOverSentinel(url, yield* listening(primary), () => true)
    yield* Effect.flip(cache.read(name))
    expect(received.map(([first]) => first)).toContain(tlsHandshake)
    expect(Buffer.concat(received).includes("secret-1")).toBe(false)
  })

  testLive("the error contains neither address nor password", function*() {
    const port = yield* freePort
    const url = Redacted.make(`redis://advisor:secret-1@127.0.0.1:${port}`)
    const exit = yield* Effect.exit((yield* cacheOf(RedisTokenCache.layer({ url }))).read(name))
    const shown = [Inspectable.toStringUnknown(exit), inspect(exit, { depth: 9 })].join()
    expect(shown).toContain("ECONNREFUSED")
    for (const text of ["secret-1", String(port)]) expect(shown).not.toContain(text)
  })

  test.each<readonly [string, unknown, (cache: SharedTokenCache.Service) => Effect.Effect<unknown, unknown>]>([
    ["read", 5, (cache) => cache.read(name)],
    ["read", null, (cache) => cache.read(name)],
    ["lease", "held", (cache) => cache.lease(name, "first", minute)],
    ["write", "OK", (cache) => cache.write(name, "one", first)]
  ])("the error has the code UnexpectedReply if the reply to %s is %j", function*([, reply, call]) {
    const cache = yield* cacheOf(RedisTokenCache.layerFromClient({ call: async () => reply }))
    expect(yield* Effect.flip(call(cache))).toMatchObject({ reason: "Unavailable", code: "UnexpectedReply" })
  })

  const tlsAlert = "\u0015\u0003\u0001"

  const ofUrl = (port: number) => RedisTokenCache.layer({ url: Redacted.make(`redis://${host}:${port}`) })

  const ofClient = (make: (port: number) => Oldest.Redis | Six.Redis) => (port: number) =>
    Layer.unwrapScoped(Effect.map(opened(() => make(port)), (client) => RedisTokenCache.layerFromClient(client)))

  testLive.each<readonly [string, string, (port: number) => Layer.Layer<SharedTokenCache.SharedTokenCache, unknown>]>([
    ["HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", ofUrl],
    ["TLS", tlsAlert, ofUrl],
    ["TLS (ioredis 5.4.1)", tlsAlert, ofClient((port) => new Oldest.Redis({ host, port }))],
    ["TLS (ioredis 6)", tlsAlert, ofClient((port) => new Six.Redis({ host, port }))]
  ])("the error has the code UnexpectedReply if the server speaks %s", function*([, reply, layerAt]) {
    const port = yield* listening(createServer((socket) => socket.once("data", () => socket.end(reply))))
    const error = yield* Effect.flip((yield* cacheOf(layerAt(port))).read(name))
    expect(error).toMatchObject({ reason: "Unavailable", code: "UnexpectedReply" })
  })
})

describe("RedisTokenCache: settings", () => {
  test.each([
    "http://127.0.0.1:6379/secret-1",
    "secret-1",
    "redis://user:secret-1@127.0.0.1:port",
    "redis://user:secret-1%@127.0.0.1:6379",
    "redis://user:12#secret-1@127.0.0.1:6379",
    "redis://127.0.0.1:6379/secret-1",
    "redis://127.0.0.1:6379?db=secret-1",
    "redis://user:secret-1@127.0.0.1:6379?connectTimeout=5000"
  ])("the URL %j is rejected, and the error does not contain it", function*(url) {
    const error = yield* Effect.flip(cacheOf(RedisTokenCache.layer({ url: Redacted.make(url) })))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "url" })
    expect(inspect(error, { depth: 9 })).not.toContain("secret-1")
  })

  const url = Redacted.make("redis://127.0.0.1:1")

  test.each<readonly [string, object, Layer.Layer<SharedTokenCache.SharedTokenCache, unknown>]>([
    [
      "a database that is not a number, which would crash the process,",
      { field: "redis.db" },
      RedisTokenCache.layer({ url, redis: { db: Number.NaN } })
    ],
    [
      "a connectTimeout that is not a number, which would crash the process,",
      { field: "redis.connectTimeout" },
      RedisTokenCache.layer({ url, redis: { connectTimeout: "5000" as never } })
    ],
    [
      "a URL that is not Redacted",
      { field: "url", rule: "must be a Redacted" },
      RedisTokenCache.layer({ url: "redis://127.0.0.1:1" as never })
    ],
    ["a prefix with braces", { field: "prefix" }, RedisTokenCache.layer({ url, prefix: "{app}:" })],
    [
      "a prefix with braces for your own client",
      { field: "prefix" },
      RedisTokenCache.layerFromClient({ call: async () => "" }, { prefix: "app}" })
    ],
    [
      "a client without `call`, as in node-redis and ioredis-mock,",
      { field: "client" },
      RedisTokenCache.layerFromClient({ get: async () => "" } as never)
    ],
    ["a client that is not created yet", { field: "client" }, RedisTokenCache.layerFromClient(undefined as never)],
    ["a URL instead of a client", { field: "client" }, RedisTokenCache.layerFromClient("redis://127.0.0.1:1" as never)]
  ])("%s is rejected", function*([, error, layer]) {
    expect(yield* Effect.flip(cacheOf(layer))).toMatchObject({ _tag: "ConfigurationError", ...error })
  })

  test("a Proxy that creates its client when it is first used is accepted, and is not used before a call", function*() {
    const read: Array<PropertyKey> = []
    const client = new Proxy<Parameters<typeof RedisTokenCache.layerFromClient>[0]>({} as never, {
      get: (_, method) => {
        read.push(method)
        return async () => ""
      }
    })
    const cache = yield* cacheOf(RedisTokenCache.layerFromClient(client))
    expect(read).toEqual([])
    expect(yield* cache.read("name")).toEqual(Option.none())
  })
})
