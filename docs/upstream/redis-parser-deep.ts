/** Something that speaks Redis' protocol, and nests arrays without end. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { Redis } from "ioredis"

const server = createServer((socket) => socket.on("data", () => socket.write("*1\r\n".repeat(1_000_000))))
await once(server.listen(0, "127.0.0.1"), "listening")

process.on("uncaughtException", (error) => {
  console.log("uncaught:", error.message)
  process.exit()
})

const redis = new Redis({ port: (server.address() as AddressInfo).port, enableReadyCheck: false })
redis.on("error", (error) => console.log("error event:", error.message))
console.log(await redis.get("key").catch((error: unknown) => `rejected: ${String(error)}`))
process.exit()
