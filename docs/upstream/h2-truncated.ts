import { once } from "node:events"
import { createServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { H2CClient } from "undici"

/** 10 bytes are promised, 5 are sent, and the stream is reset. */
const server = createServer().on("stream", (stream) => {
  stream.on("error", () => {})
  stream.respond({ ":status": 200, "content-length": "10" })
  stream.write("12345", () => stream.close(2))
})
await once(server.listen(0, "127.0.0.1"), "listening")

const client = new H2CClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
const { body } = await client.request({ path: "/", method: "GET" })
console.log(await body.text().catch((error: unknown) => error))
process.exit()
