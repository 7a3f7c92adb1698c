/** Your own ioredis client, with the settings that docs/sharing.md shows: the block of the page is run, and its `settings` are used. */
import { createServer, type Socket } from "node:net"
import { expect } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import { importBlock, programsOf } from "../../support/documents/blocks.js"
import { testLive } from "../../support/doubles/arranged.js"
import { eventually, listening } from "../../support/doubles/Wire.js"
import * as RedisServer from "./RedisServer.js"
import { exchanges, replica, searchAll, withSimulator } from "./replicas.js"

const documented: Effect.Effect<RedisOptions> = Effect.promise(async () => {
  const block = programsOf("docs/sharing.md").find(({ code }) => code.includes("export const settings"))
  if (block === undefined) throw new Error("docs/sharing.md has no block with `settings`")
  const { settings } = await importBlock(block) as { readonly settings: RedisOptions }
  return settings
})

RedisServer.describeWithRedis("RedisTokenCache.layerFromClient with the settings of docs/sharing.md", () => {
  withSimulator("five replicas that search on startup cost one exchange over a Cluster", function*({ setLatency }) {
    const redisOptions = yield* documented
    const { port } = yield* RedisServer.makeCluster
    const client = RedisServer.opened(() => new Cluster([{ host: "127.0.0.1", port }], { redisOptions }))
    yield* setLatency("token", "200 millis")
    const clients = yield* Effect.replicateEffect(client, 5)
    // A busy machine may take longer than the default timeout to connect.
    const patient = { cacheTimeout: "20 seconds", lease: "1 minute" } as const
    const replicas = yield* Effect.forEach(
      clients,
      (client) => replica(RedisTokenCache.layerFromClient(client), patient)
    )
    yield* searchAll(replicas)
    expect(yield* exchanges).toBe(1)
    expect(replicas.flatMap(({ warnings }) => warnings)).toEqual([])
  })
})

/** After a failover, the demoted primary rejects writes. Redis before version 7 wraps this error if it concerns a script. */
const readOnlyReply =
  "-ERR Error running script (call to f_1): @user_script:3: @user_script: 3: -READONLY You can't write"

/** A server that rejects scripts, and the number of connections that it has accepted. */
const demotedPrimary = Effect.gen(function*() {
  const seen = { connections: 0 }
  const accept = (socket: Socket) => {
    seen.connections += 1
    RedisServer.replying(socket, (command) => command === "eval" ? readOnlyReply : "+OK")
  }
  return { port: yield* listening(createServer(accept)), seen }
})

type CacheLayer = Layer.Layer<SharedTokenCache.SharedTokenCache, unknown>

const ownClientOn = (port: number): CacheLayer =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const settings = yield* documented
    return RedisTokenCache.layerFromClient(yield* RedisServer.opened(() => new Redis(port, "127.0.0.1", settings)))
  }))

const caches: ReadonlyArray<readonly [string, (port: number) => CacheLayer]> = [
  ["layer", (port) => RedisTokenCache.layer({ url: Redacted.make(`redis://127.0.0.1:${port}`) })],
  ["layerFromClient with the settings of docs/sharing.md", ownClientOn]
]

/** The error of a call to the cache. */
const failing = (cache: CacheLayer) =>
  Effect.flatMap(Layer.build(cache), (context) => {
    const { write } = Context.get(context, SharedTokenCache.SharedTokenCache)
    return Effect.flip(write("name-1", "one", { owner: "first", timeToLive: 60_000 }))
  })

testLive.each(caches)(
  "RedisTokenCache.%s: after a failover, a script fails with READONLY, and the client reconnects",
  function*([, on]) {
    const { port, seen } = yield* demotedPrimary
    expect(yield* failing(on(port))).toMatchObject({ code: "READONLY" })
    yield* eventually(() => seen.connections >= 2)
  }
)

testLive.each(caches)(
  "RedisTokenCache.%s: if Redis has too many connections, the error has the code of its reply",
  function*([, on]) {
    const full = createServer((socket) => socket.end("-ERR max number of clients reached\r\n"))
    expect(yield* failing(on(yield* listening(full)))).toMatchObject({ code: "ERR" })
  }
)
