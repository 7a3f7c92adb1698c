import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Agent, request } from "undici"

let opened = 0
const server = createServer((_, response) => response.end("{}")).on("connection", () => opened++)
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const dispatcher = new Agent()
for (let turn = 0; turn < 100; turn++) await (await request(url, { dispatcher })).body.text()

console.log(opened)
process.exit()
