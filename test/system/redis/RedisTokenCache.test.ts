import { readFileSync } from "node:fs"
import { inspect } from "node:util"
import { describe, expect } from "@effect/vitest"
import {
  Cause,
  Config,
  ConfigProvider,
  Context,
  Effect,
  Exit,
  Inspectable,
  Layer,
  Option,
  Redacted,
  Schedule,
  Stream
} from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { SharedTokenCacheLaws, Simulator } from "effect-nutrition-advisor/testing"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import { arrangedLive, test, testLive } from "../../doubles/arranged.js"
import { brokenOf } from "../laws/brokenOf.js"
import * as RedisCluster from "./RedisCluster.js"
import * as RedisServer from "./RedisServer.js"
import * as Replicas from "./replicas.js"
import * as RespServer from "./RespServer.js"
import * as TcpProxy from "./TcpProxy.js"
import * as Tls from "./tls.js"
import * as Unhandled from "./unhandled.js"

const { describeWithRedis } = RedisServer

const name = "name-1"

const minute = 60_000

const overNothing = { over: Option.none<string>(), timeToLive: minute }

const over = (entry: string) => ({ over: Option.some(entry), timeToLive: minute })

const texts = (answer: unknown) => Array.isArray(answer) ? answer.map(String) : []

const keysOf = ({ command }: RedisServer.RedisServer) => Effect.map(command("KEYS", "*"), (keys) => texts(keys).sort())

const cacheOf = (options: RedisTokenCache.Options) => RedisTokenCache.make(options)

/** A server with nothing in it, and a cache over a connection of its own. */
const alone = Effect.gen(function*() {
  const server = yield* RedisServer.make()
  return { server, cache: yield* cacheOf({ url: server.url }) }
})

const overEmpty = arrangedLive(alone, Layer.empty)

const overServer = arrangedLive(RedisServer.make(), Layer.empty)

/** A client of the user's own, closed at the end of the test. */
const client = <Client extends Redis | Cluster>(open: () => Client) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const client = open()
      client.on("error", () => {})
      return client
    }),
    (client) => Effect.sync(() => client.disconnect())
  )

const clientOf = ({ port }: RedisServer.RedisServer, options: RedisOptions = {}) =>
  client(() => new Redis({ port, host: "127.0.0.1", ...options }))

/** How often the name was heard of while the effect ran, and a little longer, by a watch that stood and met this before. */
const heardWhile = <A, E, R>(
  listening: SharedTokenCache.Service,
  effect: Effect.Effect<A, E, R>,
  before: Effect.Effect<unknown> = Effect.void
) =>
  Effect.gen(function*() {
    let heard = 0
    yield* Effect.forkScoped(Stream.runForEach(listening.changes(name), () =>
      Effect.sync(() => {
        heard += 1
      })))
    yield* Effect.repeat(Effect.sync(() => heard), {
      until: (heard) => heard > 0,
      schedule: Schedule.spaced("5 millis")
    }).pipe(Effect.timeout("5 seconds"))
    yield* before
    const heardBefore = heard
    yield* effect
    yield* Effect.sleep("150 millis")
    return heard - heardBefore
  })

describeWithRedis("the laws of a SharedTokenCache", () => {
  overServer.each<RedisOptions>([{}, { stringNumbers: true }])(
    "hold with the options %j of ioredis",
    function*(redis, { url }) {
      const broken = brokenOf(SharedTokenCacheLaws.laws, "unbounded")
      expect(yield* Effect.provide(broken, RedisTokenCache.layer({ url, redis }))).toEqual([])
    }
  )
})

describeWithRedis("a watch", () => {
  overEmpty.each<readonly [string, (cache: SharedTokenCache.Service) => Effect.Effect<unknown, unknown>, number]>([
    ["hears of an entry that was written", (cache) => cache.write(name, "first", overNothing), 1],
    ["hears of a lease that was given back", (cache) => cache.release(name, "first"), 1],
    ["hears nothing of an entry that was refused", (cache) => cache.write(name, "second", over("first")), 0],
    ["hears nothing of a lease that was not given back", (cache) => cache.release(name, "second"), 0],
    ["hears nothing of other names", (cache) => cache.write("name-2", "first", overNothing), 0]
  ])("%s", function*([_, change, times], { cache, server }) {
    yield* cache.lease(name, "first", minute)
    expect(yield* heardWhile(yield* cacheOf({ url: server.url }), change(cache))).toBe(times)
  })

  overEmpty("hears of changes after its connection was cut", function*({ cache, server }) {
    const proxy = yield* TcpProxy.make(server.port)
    const heard = yield* heardWhile(
      yield* cacheOf({ url: proxy.url }),
      cache.write(name, "first", overNothing),
      Effect.zipRight(proxy.cut, Effect.sleep("500 millis"))
    )
    expect(heard).toBe(1)
  })

  overServer.each<RedisOptions>([{ keyPrefix: "app:" }, { enableOfflineQueue: false }])(
    "hears of changes with a client of one's own with the option %j",
    function*(options, server) {
      const cache = Effect.gen(function*() {
        const redis = yield* clientOf(server, options)
        yield* Effect.retry(Effect.tryPromise(() => redis.ping()), Schedule.spaced("10 millis"))
        return yield* RedisTokenCache.makeFromClient(redis)
      })
      expect(yield* heardWhile(yield* cache, (yield* cache).write(name, "first", overNothing))).toBe(1)
    }
  )

  overEmpty("uses one connection however many watch", function*({ cache, server }) {
    yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.forkScoped(Stream.runDrain(cache.changes(name))))
    yield* Effect.sleep("200 millis")
    const clients = String(yield* server.command("CLIENT", "LIST", "TYPE", "pubsub")).trim().split("\n")
    expect(clients).toHaveLength(1)
  })

  overEmpty("ends in a failure where the server refuses it, instead of in silence", function*({ cache, server }) {
    yield* cache.read(name)
    yield* server.command("ACL", "SETUSER", "default", "resetchannels")
    const error = yield* Effect.flip(Stream.runDrain(cache.changes(name)))
    expect(error).toMatchObject({ _tag: "SharedTokenCacheError", reason: "Unavailable", code: "NOPERM" })
  })
})

const longest = 16 * 1024

/** What someone else may put under a key of ours, with no end. */
const strangers: ReadonlyArray<readonly [string, ReadonlyArray<string | Buffer>]> = [
  ["a text above 16 KiB", ["SET", "KEY", "A".repeat(longest + 1)]],
  ["16 MiB", ["SET", "KEY", "A".repeat(16 * 1024 * 1024)]],
  ["a list", ["RPUSH", "KEY", "a", "b"]],
  ["a hash", ["HSET", "KEY", "a", "b"]],
  ["a set", ["SADD", "KEY", "a"]],
  ["a stream", ["XADD", "KEY", "*", "a", "b"]],
  ["an empty text", ["SET", "KEY", ""]]
]

const put = (server: RedisServer.RedisServer, kind: "token" | "lease", command: ReadonlyArray<string | Buffer>) =>
  Effect.flatMap(clientOf(server), (redis) => {
    const [called = "", ...args] = command.map((word) => word === "KEY" ? `nutrition-advisor:{${name}}:${kind}` : word)
    return Effect.promise(() => redis.call(String(called), ...args))
  })

describeWithRedis("what a cache has not written", () => {
  overEmpty.each(strangers)("is no entry, and is replaced by the next: %s", function*([, command], { cache, server }) {
    yield* put(server, "token", command)
    const before = yield* cache.read(name)
    expect([before, yield* cache.write(name, "first", overNothing), yield* cache.read(name)])
      .toEqual([Option.none(), true, Option.some("first")])
  })

  overEmpty.each(strangers)("is nobody's lease: %s", function*([, command], { cache, server }) {
    yield* put(server, "lease", command)
    const held = yield* cache.lease(name, "first", minute)
    expect([held, yield* cache.release(name, "first")]).toEqual([{ owner: "first", remaining: minute }, true])
  })

  overEmpty("is replaced too where it is bytes that are no UTF-8", function*({ cache, server }) {
    yield* put(server, "token", ["SET", "KEY", Buffer.from([0xff, 0xfe, 0x00, 0xc3])])
    const over = yield* cache.read(name)
    const written = yield* cache.write(name, "first", { over, timeToLive: minute })
    expect([Option.isSome(over), written, yield* cache.read(name)]).toEqual([true, true, Option.some("first")])
  })

  overServer("is not transferred where it is above 16 KiB", function*(server) {
    const proxy = yield* TcpProxy.make(server.port)
    const cache = yield* cacheOf({ url: proxy.url })
    yield* put(server, "token", ["SET", "KEY", "A".repeat(1_000_000)])
    yield* put(server, "lease", ["SET", "KEY", "A".repeat(1_000_000)])
    yield* Effect.all([cache.read(name), cache.lease(name, "first", minute)])
    expect((yield* proxy.recorded).length).toBeLessThan(20_000)
  })

  overEmpty("is an entry where it is 16 KiB, and none that is written where it is more", function*({ cache }) {
    const [fits, doesNot] = ["A".repeat(longest), "ä".repeat(longest / 2 + 1)]
    const written = [
      yield* cache.write(name, doesNot, overNothing),
      yield* cache.write(name, fits, overNothing)
    ]
    expect([written, yield* cache.read(name)]).toEqual([[false, true], Option.some(fits)])
  })

  overEmpty("is a lease like one taken now where it has no end, for one whole time", function*({ cache, server }) {
    yield* put(server, "lease", ["SET", "KEY", "by hand"])
    const held = yield* cache.lease(name, "first", 150)
    yield* Effect.sleep("200 millis")
    expect([held, (yield* cache.lease(name, "second", minute)).owner])
      .toEqual([{ owner: "by hand", remaining: 150 }, "second"])
  })
})

describeWithRedis("a time that is no whole number of milliseconds", () => {
  overEmpty.each([0.5, 1_500.7, 1e300, Number.POSITIVE_INFINITY])(
    "is one for the lease and for an entry: %s",
    function*(time, { cache }) {
      const written = yield* cache.write(name, "first", { over: Option.none(), timeToLive: time })
      expect([written, (yield* cache.lease(name, "owner", time)).owner]).toEqual([true, "owner"])
    }
  )
})

describeWithRedis("a call of the cache that fails", () => {
  overEmpty.each<readonly [string, (server: RedisServer.RedisServer) => Effect.Effect<unknown>, code: string]>([
    ["names a server that is not there, by no more than a word", ({ stop }) => stop, "ECONNREFUSED"],
    ["calls a read-only replica READONLY", ({ command }) => command("REPLICAOF", "127.0.0.1", 1), "READONLY"],
    ["calls a full server OOM", ({ command }) => command("CONFIG", "SET", "maxmemory", "1"), "OOM"],
    [
      "calls one that asks for a password NOAUTH",
      ({ command }) => command("CONFIG", "SET", "requirepass", "x"),
      "NOAUTH"
    ]
  ])("%s", function*([_, prepare, code], { cache, server }) {
    yield* prepare(server)
    const error = yield* Effect.flip(cache.lease(name, "first", minute))
    expect(error).toMatchObject({ reason: "Unavailable", code })
  })

  testLive("repeats neither address nor password", function*() {
    const port = yield* RedisServer.freePort
    const cache = yield* cacheOf({ url: Redacted.make(`redis://advisor:secret-1@127.0.0.1:${port}`) })
    const exit = yield* Effect.exit(cache.read(name))
    const shown = [Inspectable.toStringUnknown(exit), inspect(exit, { depth: 9 })].join()
    expect(shown).toContain("ECONNREFUSED")
    for (const text of ["secret-1", String(port)]) expect(shown).not.toContain(text)
  })

  testLive("names what a client of the user's own met, where that has a listener for errors", function*() {
    const port = yield* RedisServer.freePort
    const redis = yield* client(() => new Redis({ port, host: "127.0.0.1", maxRetriesPerRequest: 0 }))
    const error = yield* Effect.flip((yield* RedisTokenCache.makeFromClient(redis)).read(name))
    expect(error).toMatchObject({ reason: "Unavailable", code: "ECONNREFUSED" })
  })

  testLive("says that the connection was closed where nobody knows more", function*() {
    const server = yield* RespServer.make
    yield* server.answer(() => RespServer.cutAfter(""))
    const error = yield* Effect.flip((yield* cacheOf({ url: server.url })).read(name))
    expect(error).toMatchObject({ reason: "Unavailable", code: "ConnectionClosed" })
  })

  testLive("leaves the listeners of a client of the user's own as they were", function*() {
    const redis = yield* client(() => new Redis({ lazyConnect: true }))
    const counts = () => ["error", "ready"].map((event) => redis.listenerCount(event))
    const before = counts()
    yield* Effect.scoped(RedisTokenCache.makeFromClient(redis))
    expect(counts()).toEqual(before)
  })
})

describeWithRedis("what lies in Redis", () => {
  overServer("is in the database of the URL", function*(server) {
    const cache = yield* cacheOf({ url: Redacted.make(`${Redacted.value(server.url)}/3`) })
    yield* cache.write(name, "first", overNothing)
    expect(String(yield* server.command("INFO", "keyspace"))).toMatch(/db3:keys=1/)
  })
})

describeWithRedis("a script", () => {
  const everyCall = (cache: SharedTokenCache.Service) =>
    Effect.all([
      cache.read(name),
      cache.write(name, "first", overNothing),
      Effect.map(cache.lease(name, "owner", minute), ({ owner }) => owner),
      cache.release(name, "owner"),
      cache.remove(name, "first")
    ])

  const callsOf = ({ command }: RedisServer.RedisServer, called: string) =>
    Effect.map(
      command("INFO", "commandstats"),
      (info) => Number(new RegExp(`cmdstat_${called}:calls=(\\d+)`).exec(String(info))?.[1] ?? 0)
    )

  overEmpty("is sent once and then called by its hash", function*({ cache, server }) {
    yield* Effect.replicateEffect(everyCall(cache), 10)
    expect([yield* callsOf(server, "eval"), yield* callsOf(server, "evalsha")]).toEqual([5, 45])
  })

  overEmpty("does every call on its own, with no command beside it", function*({ server }) {
    const proxy = yield* TcpProxy.make(server.port)
    yield* everyCall(yield* cacheOf({ url: proxy.url }))
    const commands = [...(yield* proxy.sent).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)].map(([, called]) => called)
    expect(commands.filter((called) => !["client", "info"].includes(called?.toLowerCase() ?? "")))
      .toEqual(Array.from({ length: 5 }, () => "eval"))
  })
})

describe("a configuration", () => {
  test.each([
    "http://127.0.0.1:6379/secret-1",
    "secret-1",
    "",
    "//secret-1:6379",
    "redis://user:secret-1@127.0.0.1:port",
    " redis://user:secret-1@127.0.0.1:6379",
    "redis:secret-1",
    "redis://user:secret-1%@127.0.0.1:6379"
  ])("refuses the URL %j without repeating it", function*(url) {
    const exit = yield* Effect.exit(Layer.build(RedisTokenCache.layer({ url: Redacted.make(url) })))
    const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
    expect([error, Inspectable.toStringUnknown(exit).includes("secret-1")])
      .toEqual([expect.objectContaining({ _tag: "ConfigurationError", field: "url" }), false])
  })

  test.each(["{app}:", "app{", "app}"])("refuses the prefix %j: braces are for the hash tag", function*(prefix) {
    const layer = RedisTokenCache.layer({ url: Redacted.make("redis://127.0.0.1:1"), prefix })
    const error = yield* Effect.flip(Layer.build(layer))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "prefix" })
  })

  testLive("refuses such a prefix for a client of one's own too", function*() {
    const redis = yield* client(() => new Redis({ lazyConnect: true }))
    const error = yield* Effect.flip(Layer.build(RedisTokenCache.layerFromClient(redis, { prefix: "{app}:" })))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "prefix" })
  })

  test("makes no connection before its first use", function*() {
    yield* Layer.build(RedisTokenCache.layer({ url: Redacted.make("redis://127.0.0.1:1") }))
  })

  test("from the environment fails in a ConfigError where the URL is missing", function*() {
    const error = yield* Effect.flip(Layer.build(RedisTokenCache.layerConfig()))
    expect(String(error)).toContain("NUTRITION_ADVISOR_REDIS_URL")
  }, Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
})

const builtFrom = <E>(layer: Layer.Layer<SharedTokenCache.SharedTokenCache, E>) =>
  Effect.map(Layer.build(layer), Context.get(SharedTokenCache.SharedTokenCache))

describeWithRedis("layerConfig", () => {
  const ours = { NUTRITION_ADVISOR_REDIS_PREFIX: "ours:" }

  overServer.each<
    readonly [string, Readonly<Record<string, string>>, Parameters<typeof RedisTokenCache.layerConfig>[0], string]
  >([
    ["reads NUTRITION_ADVISOR_REDIS_URL", {}, {}, "nutrition-advisor:"],
    ["reads NUTRITION_ADVISOR_REDIS_PREFIX where it is set", ours, {}, "ours:"],
    ["reads a variable for what is not given", ours, { prefix: Config.succeed("given:") }, "given:"]
  ])("%s", function*([_, variables, options, prefix], server) {
    const environment = { NUTRITION_ADVISOR_REDIS_URL: Redacted.value(server.url), ...variables }
    const cache = yield* builtFrom(RedisTokenCache.layerConfig(options)).pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment))))
    )
    yield* cache.write(name, "first", overNothing)
    expect(yield* keysOf(server)).toEqual([`${prefix}{${name}}:token`])
  })
})

describeWithRedis("a layer", () => {
  const connections = ({ command }: RedisServer.RedisServer) =>
    Effect.map(command("CLIENT", "LIST"), (list) => String(list).trim().split("\n").length)

  overServer("leaves no connection behind", function*(server) {
    const before = yield* connections(server)
    yield* Effect.scoped(Effect.gen(function*() {
      const cache = yield* builtFrom(RedisTokenCache.layer({ url: server.url }))
      yield* cache.write(name, "first", overNothing)
      yield* heardWhile(cache, Effect.void)
    }))
    yield* Effect.sleep("100 millis")
    expect(yield* connections(server)).toBe(before)
  })

  overServer("from a client leaves that client open", function*(server) {
    const redis = yield* clientOf(server)
    yield* Effect.scoped(Effect.gen(function*() {
      const cache = yield* builtFrom(RedisTokenCache.layerFromClient(redis))
      yield* heardWhile(cache, cache.write(name, "first", overNothing))
    }))
    expect(yield* Effect.promise(() => redis.ping())).toBe("PONG")
  })
})

describeWithRedis("a client with a keyPrefix", () => {
  overServer("has it before the keys", function*(server) {
    const cache = yield* RedisTokenCache.makeFromClient(yield* clientOf(server, { keyPrefix: "app:" }))
    yield* cache.write(name, "first", overNothing)
    yield* cache.lease(name, "owner", minute)
    expect(yield* keysOf(server)).toEqual(["lease", "token"].map((key) => `app:nutrition-advisor:{${name}}:${key}`))
  })
})

const simulated = arrangedLive(Effect.void, Simulator.layerHttpClient())

/** For a Redis that works: on a busy machine an answer may take long. */
const unhurried = { cacheTimeout: "20 seconds" } as const

describeWithRedis("Redis and the way to it", () => {
  const customerId = "customer-5f1c"

  const licenseKey = "license key/7f+3a"

  const formsOf = (secret: string) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("hex"),
    ...[0, 1, 2].map((offset) => Buffer.from(secret).subarray(offset).toString("base64url").slice(0, -2)),
    ...[0, 1, 2].map((offset) =>
      Buffer.from(secret).subarray(offset).toString("base64").replace(/=+$/, "").slice(0, -2)
    )
  ]

  /** What a cold start, a revocation and searches have left in each place where Redis shows what it is told. */
  const traces = Effect.gen(function*() {
    const server = yield* RedisServer.make(["--slowlog-log-slower-than", "0", "--slowlog-max-len", "10000"])
    const proxy = yield* TcpProxy.make(server.port)
    const monitored: Array<string> = []
    const monitor = yield* Effect.flatMap(clientOf(server), (redis) => Effect.promise(() => redis.monitor()))
    yield* Effect.addFinalizer(() => Effect.sync(() => monitor.disconnect()))
    monitor.on("monitor", (_time: string, args: ReadonlyArray<string>) => {
      monitored.push(args.join(" "))
    })
    const simulator = yield* Simulator.Simulator
    yield* simulator.setLatency("token", "100 millis")
    const replicas = yield* Replicas.makeMany(3, () => RedisTokenCache.layer({ url: proxy.url }), {
      licenseKey: Redacted.make(licenseKey)
    })
    yield* Replicas.searchAll(replicas, 2)
    const cold = yield* Replicas.exchanges
    yield* Replicas.revocationCost(replicas)
    const keys = yield* keysOf(server)
    const values = yield* Effect.forEach(keys, (key) => server.command("GET", key))
    const dumps = yield* Effect.forEach(keys, (key) => server.command("DUMP", key))
    const used = new Set(
      (yield* simulator.requests).flatMap(({ authorization }) =>
        Option.toArray(Option.map(authorization, (value) => Redacted.value(value).replace("Bearer ", "")))
      )
    )
    return {
      cold,
      secrets: [...used, customerId, licenseKey, new URL(Simulator.baseUrl).hostname, "token-cache"],
      places: {
        wire: yield* proxy.recorded,
        monitor: monitored.join("\n"),
        memory: [...keys, ...values, ...dumps].join("\n"),
        clients: String(yield* server.command("CLIENT", "LIST")),
        slowlog: JSON.stringify(yield* server.command("SLOWLOG", "GET", -1))
      }
    }
  }).pipe(
    Effect.provide(Simulator.layerHttpClient({ customerId, licenseKeys: [licenseKey] }))
  )

  const places = ["wire", "monitor", "memory", "clients", "slowlog"] as const

  describe("at the first try", { retry: 0 }, () => {
    testLive.each(places)("hold no token, identifier, license key or URL in the %s", function*(place) {
      const { places, secrets } = yield* traces
      const text = places[place]
      expect(secrets.flatMap(formsOf).filter((form) => text.includes(form))).toEqual([])
    })
  })

  testLive("were looked into where they hold the sealed entry of two tokens", function*() {
    const { cold, places: { memory, monitor, slowlog, wire }, secrets } = yield* traces
    expect([cold, secrets.length, [memory, monitor, slowlog, wire].map((text) => /v1\.[\w-]{16}\./.test(text))])
      .toEqual([1, 6, [true, true, true, true]])
  })
})

describeWithRedis("a cluster of three", () => {
  const clusterOf = (nodes: ReadonlyArray<RedisServer.RedisServer>, options: { keyPrefix?: string } = {}) =>
    client(() => new Cluster(nodes.map(({ port }) => ({ host: "127.0.0.1", port })), options))

  testLive("has one token's keys on one node, and the tokens on all three", function*() {
    const nodes = yield* RedisCluster.make
    const cache = yield* RedisTokenCache.makeFromClient(yield* clusterOf(nodes))
    const names = Array.from({ length: 30 }, (_, index) => `name-${index}`)
    yield* Effect.forEach(
      names,
      (name) => Effect.all([cache.write(name, "first", overNothing), cache.lease(name, "owner", minute)])
    )
    const namesByNode = yield* Effect.forEach(
      nodes,
      (node) => Effect.map(keysOf(node), (keys) => keys.map((key) => /\{(.*?)\}/.exec(key)?.[1]))
    )
    const nodesOf = names.map((name) => namesByNode.map((keys) => keys.filter((known) => known === name).length))
    expect([
      nodesOf.every((counts) => Math.max(...counts) === 2 && counts.reduce((a, b) => a + b) === 2),
      namesByNode.every((keys) => keys.length > 0)
    ]).toEqual([true, true])
  })

  simulated("costs ten replicas one exchange at a cold start, and one at a revocation", function*() {
    const nodes = yield* RedisCluster.make
    const clients = yield* Effect.replicateEffect(clusterOf(nodes), 10)
    const replicas = yield* Effect.forEach(
      clients,
      (redis) => Replicas.make(RedisTokenCache.layerFromClient(redis), unhurried)
    )
    const costs = [yield* Replicas.cost(Replicas.searchAll(replicas, 5)), yield* Replicas.revocationCost(replicas)]
    expect([
      costs,
      yield* Effect.forEach(replicas, ({ warnings }) => warnings)
    ])
      .toEqual([[1, 1], replicas.map(() => 0)])
  })

  testLive("tells those who wait", function*() {
    const nodes = yield* RedisCluster.make
    const cache = yield* RedisTokenCache.makeFromClient(yield* clusterOf(nodes))
    const listening = yield* RedisTokenCache.makeFromClient(yield* clusterOf(nodes))
    expect(yield* heardWhile(listening, cache.write(name, "first", overNothing))).toBe(1)
  })
})

Tls.describeWithTls("a server with TLS", () => {
  const secured = Effect.gen(function*() {
    const { file, key, text } = yield* Tls.certificate
    const port = yield* RedisServer.freePort
    const server = yield* RedisServer.make([
      ...["--tls-port", String(port), "--tls-cert-file", file, "--tls-key-file", key],
      ...["--tls-ca-cert-file", file, "--tls-auth-clients", "no"]
    ])
    return { server, port, certificate: text, url: Redacted.make(`rediss://127.0.0.1:${port}`) }
  })

  testLive("is used where its certificate is trusted", function*() {
    const { certificate, server, url } = yield* secured
    const cache = yield* cacheOf({ url, redis: { tls: { ca: certificate } } })
    yield* cache.write(name, "first", overNothing)
    expect(yield* keysOf(server)).toEqual([`nutrition-advisor:{${name}}:token`])
  })

  testLive("is not used where its certificate is not trusted", function*() {
    const { url } = yield* secured
    const error = yield* Effect.flip((yield* cacheOf({ url })).read(name))
    expect(error).toMatchObject({ _tag: "SharedTokenCacheError", reason: "Unavailable" })
  })

  testLive("tells those who wait", function*() {
    const { certificate, url } = yield* secured
    const cache = cacheOf({ url, redis: { tls: { ca: certificate } } })
    expect(yield* heardWhile(yield* cache, (yield* cache).write(name, "first", overNothing))).toBe(1)
  })

  testLive("is never sent a command in the clear, however the scheme of its URL is written", function*() {
    const { port } = yield* secured
    const proxy = yield* TcpProxy.make(port)
    yield* Effect.gen(function*() {
      const cache = yield* cacheOf({ url: Redacted.make(`REDISS://user:secret@127.0.0.1:${proxy.port}`) })
      yield* Effect.timeout(cache.read(name), "2 seconds")
    }).pipe(Effect.exit)
    expect(yield* proxy.recorded).not.toContain("secret")
  })
})

describeWithRedis("a user of an ACL", () => {
  const documentedCommands = readFileSync(new URL("../../../docs/sharing.md", import.meta.url), "utf8")
    .match(/^ {2}-@all (\+.*)$/m)?.[1]?.split(" ") ?? []

  const restricted = (...further: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const server = yield* RedisServer.make()
      const rules = ["on", ">secret", "resetkeys", "resetchannels", ...further, "-@all", ...documentedCommands]
      yield* server.command("ACL", "SETUSER", "advisor", ...rules)
      return { server, url: Redacted.make(`redis://advisor:secret@127.0.0.1:${server.port}`) }
    })

  const keys = "~nutrition-advisor:*"

  const channels = "&nutrition-advisor:*"

  testLive("needs the keys and channels of the prefix only", function*() {
    const { url } = yield* restricted(keys, channels)
    const cache = yield* cacheOf({ url })
    expect(yield* heardWhile(yield* cacheOf({ url }), cache.write(name, "first", overNothing))).toBe(1)
  })

  testLive("may be given by name and password among ioredis' own options", function*() {
    const { server } = yield* restricted(keys, channels)
    const cache = yield* cacheOf({ url: server.url, redis: { username: "advisor", password: "secret" } })
    yield* cache.write(name, "first", overNothing)
    expect(String(yield* server.command("CLIENT", "LIST"))).toContain("user=advisor")
  })

  testLive("is refused with a wrong password, which no error repeats", function*() {
    const { server } = yield* restricted(keys, channels)
    const cache = yield* cacheOf({ url: Redacted.make(`redis://advisor:secret-2@127.0.0.1:${server.port}`) })
    const exit = yield* Effect.exit(cache.read(name))
    const shown = [Inspectable.toStringUnknown(exit), inspect(exit, { depth: 9 })].join()
    expect(shown).toContain("WRONGPASS")
    for (const text of ["secret-2", "redis://", String(server.port)]) expect(shown).not.toContain(text)
  })

  const withoutChannel = arrangedLive(
    Effect.gen(function*() {
      const { url } = yield* restricted(keys)
      yield* Effect.flatMap(Simulator.Simulator, ({ setLatency }) => setLatency("token", "300 millis"))
      return yield* Replicas.makeMany(5, () => RedisTokenCache.layer({ url }))
    }),
    Simulator.layerHttpClient()
  )

  withoutChannel("shares without any channel: a waiter looks by itself", function*(replicas) {
    const costs = [yield* Replicas.cost(Replicas.searchAll(replicas)), yield* Replicas.revocationCost(replicas)]
    expect(costs).toEqual([1, 1])
  })

  withoutChannel("is not said to exchange by itself where only the channel is refused", function*(replicas) {
    yield* Replicas.searchAll(replicas)
    const lines = (yield* Effect.forEach(replicas, ({ lines }) => lines)).flat()
    expect(lines.filter(({ message }) => message.includes("exchanges the license key by itself"))).toEqual([])
  })

  testLive("that loses its channels leaves no rejected promise behind", function*() {
    const { server, url } = yield* restricted(keys, channels)
    const rejections = yield* Unhandled.rejections
    const cache = yield* cacheOf({ url })
    yield* heardWhile(
      cache,
      Effect.zipRight(server.command("ACL", "SETUSER", "advisor", "resetchannels"), Effect.sleep("400 millis"))
    )
    expect(yield* rejections).toEqual([])
  })
})
