/** Servers of Redis that a test starts on free ports, kills and freezes. */
import type { Socket } from "node:net"
import { Effect, Redacted, Scope } from "effect"
import { Redis } from "ioredis"
import { describe } from "vitest"
import { eventually, freePort } from "../../support/doubles/Wire.js"
import * as Program from "../Program.js"

/** Tests that start servers. */
export const describeWithRedis: ReturnType<typeof describe.skipIf> = describe.skipIf(
  Program.isMissing("redis-server", "REQUIRE_REDIS")
)

/** A client of ioredis, which is disconnected at the end of a scope. */
export const opened = <
  Client extends { on: (event: "error", listener: () => void) => unknown; disconnect: () => void }
>(open: () => Client) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const client = open()
      client.on("error", () => {})
      return client
    }),
    (client) => Effect.sync(() => client.disconnect())
  )

/** Replies to each command over a connection, as a test says. */
export const replying = (socket: Socket, replyTo: (command: string | undefined) => string) =>
  socket.on("data", (commands) => {
    const names = commands.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)
    for (const [, name] of names) socket.write(`${replyTo(name)}\r\n`)
  })

export const make = (settings = "") =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const port = yield* freePort
    const folder = yield* Program.folder
    const control = yield* opened(() =>
      new Redis({ port, host: "127.0.0.1", lazyConnect: true, retryStrategy: () => 20 })
    )
    const options = `--port ${port} --bind 127.0.0.1 --appendonly no ${settings}`.trim().split(" ")
    const spawned = Scope.extend(Program.spawned("redis-server", [...options, "--dir", folder, "--save", ""]), scope)
    const untilItResponds = eventually(() => control.ping().then((reply) => reply === "PONG"))
    let server = yield* Effect.zipLeft(spawned, untilItResponds)

    return {
      port,
      url: Redacted.make(`redis://127.0.0.1:${port}`),
      /** Starts the server again on its port, empty, and waits until it responds. */
      start: Effect.map(Effect.zipLeft(spawned, untilItResponds), (started) => void (server = started)),
      /** SIGKILL: the server ends without closing anything. */
      kill: Effect.suspend(() => {
        server.child.kill("SIGKILL")
        return server.ended
      }),
      /** SIGSTOP: connections stay open, and no response arrives. */
      freeze: Effect.sync(() => server.child.kill("SIGSTOP")),
      thaw: Effect.sync(() => server.child.kill("SIGCONT")),
      /** A command over a connection of the test itself, such as `command("CONFIG", "SET", "maxmemory", "1mb")`. */
      command: (name: string, ...args: ReadonlyArray<string | number>): Effect.Effect<unknown> =>
        Effect.promise(() => control.call(name, ...args))
    }
  })

/** A cluster of one node. It rejects commands whose keys are in different slots, as any cluster does. */
export const makeCluster = Effect.gen(function*() {
  const bus = yield* freePort
  const node = yield* make(`--cluster-enabled yes --cluster-port ${bus} --cluster-announce-ip 127.0.0.1`)
  yield* node.command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
  return node
})

export type RedisServer = Effect.Effect.Success<ReturnType<typeof make>>
