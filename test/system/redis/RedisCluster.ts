/** Three servers of Redis that share the slots of one cluster. */
import { Effect, Schedule, type Scope } from "effect"
import { freePort } from "../../support/doubles/Wire.js"
import * as RedisServer from "./RedisServer.js"

const bounds = [[0, 5460], [5461, 10922], [10923, 16383]] as const

const startNode = ([first, last]: readonly [number, number]) =>
  Effect.gen(function*() {
    const bus = yield* freePort
    const server = yield* RedisServer.make([
      ...["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", String(bus)],
      ...["--cluster-announce-ip", "127.0.0.1", "--cluster-node-timeout", "5000"]
    ])
    yield* server.command("CLUSTER", "ADDSLOTSRANGE", first, last)
    return { bus, server }
  })

const knowsAll = ({ command }: RedisServer.RedisServer) =>
  Effect.map(
    Effect.all([command("CLUSTER", "INFO"), command("CLUSTER", "SHARDS")]),
    ([info, shards]) =>
      String(info).includes("cluster_state:ok") && String(info).includes("cluster_known_nodes:3") &&
      Array.isArray(shards) && shards.length === 3
  )

export const make: Effect.Effect<ReadonlyArray<RedisServer.RedisServer>, never, Scope.Scope> = Effect.gen(function*() {
  const nodes = yield* Effect.forEach(bounds, startNode, { concurrency: "unbounded" })
  const [first] = nodes
  yield* Effect.forEach(
    nodes.slice(1),
    ({ bus, server }) => first?.server.command("CLUSTER", "MEET", "127.0.0.1", server.port, bus) ?? Effect.void
  )
  const servers = nodes.map(({ server }) => server)
  yield* Effect.forEach(servers, (server) =>
    knowsAll(server).pipe(
      Effect.repeat({ until: (knows) => knows, schedule: Schedule.spaced("20 millis") }),
      Effect.timeout("20 seconds"),
      Effect.orDie
    ))
  return servers
})
