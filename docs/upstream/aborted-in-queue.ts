import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Pool } from "undici"

let opened = 0
const server = createServer((_, response) => setTimeout(20).then(() => response.end("{}"))).on(
  "connection",
  () => opened++
)
await once(server.listen(0, "127.0.0.1"), "listening")

const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 })
const get = async (signal?: AbortSignal) => (await pool.request({ path: "/", method: "GET", signal })).body.text()

const needed = get()
const controller = new AbortController()
const unneeded = Array.from({ length: 100 }, () => get(controller.signal).catch(() => {}))
controller.abort()
await Promise.all([needed, ...unneeded])
await get()

console.log(opened)
process.exit()
