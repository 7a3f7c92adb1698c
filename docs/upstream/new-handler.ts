import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Agent } from "undici"

const server = createServer((_, response) => response.end("{}"))
await once(server.listen(0, "127.0.0.1"), "listening")
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const handler = {
  onRequestStart: (controller: object) => console.log(controller.constructor.name),
  onResponseEnd: () => process.exit(),
  onResponseError: (_: unknown, error: Error) => console.log(error)
}

new Agent().dispatch({ origin, path: "/", method: "GET" }, handler)
