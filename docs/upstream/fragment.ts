import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect } from "effect"

const server = createServer((socket) =>
  socket.once("data", (data) => {
    console.log(String(data).split("\r\n")[0])
    socket.end("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
  })
)
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=1#c`

await Effect.runPromise(Effect.provide(HttpClient.get(url), NodeHttpClient.layerUndici))
server.close()
