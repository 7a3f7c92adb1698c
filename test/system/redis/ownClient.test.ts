/** Your own ioredis client, with the settings that docs/sharing.md shows: the block of the page is run, and its `settings` are used. */
import { expect } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Cluster, Redis, type RedisOptions } from "ioredis"
import { programsOf } from "../../support/documents/blocks.js"
import { importBlock } from "../../support/documents/importBlock.js"
import * as RedisServer from "./RedisServer.js"
import { exchanges, replica, revocationCost, searchAll, withSimulator } from "./replicas.js"
import * as TcpProxy from "./TcpProxy.js"

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
    expect([yield* exchanges, replicas.flatMap(({ warnings }) => warnings)]).toEqual([1, []])
  })

  withSimulator("after a failover, a connection to the demoted primary moves to the new one", function*() {
    const settings = yield* documented
    const [first, second] = yield* Effect.all([RedisServer.make(), RedisServer.make()])
    yield* second.command("REPLICAOF", "127.0.0.1", first.port)
    const hostName = yield* TcpProxy.make(first.port)
    const client = yield* RedisServer.opened(() => new Redis(hostName.port, "127.0.0.1", settings))
    const own = yield* replica(RedisTokenCache.layerFromClient(client))
    const provided = yield* replica(RedisTokenCache.layer({ url: hostName.url }))
    yield* searchAll([own, provided])
    yield* second.command("REPLICAOF", "NO", "ONE")
    yield* first.command("REPLICAOF", "127.0.0.1", second.port)
    yield* hostName.setTarget(second.port)
    const revokeAndSearch = revocationCost([own, provided])
    yield* Effect.repeat(revokeAndSearch, {
      until: (exchanges) => exchanges === 1,
      schedule: Schedule.spaced("200 millis")
    }).pipe(Effect.timeout("30 seconds"))
    const warned = own.warnings.length + provided.warnings.length
    yield* revokeAndSearch
    expect(own.warnings.length + provided.warnings.length).toBe(warned)
    const entry = yield* second.command("KEYS", "*:token")
    expect(entry).toHaveLength(1)
  })
})
