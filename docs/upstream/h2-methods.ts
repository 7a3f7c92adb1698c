import { once } from "node:events"
import { createServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { H2CClient } from "undici"

const server = createServer((request, response) => {
  request.resume().on("end", () => response.end("answered"))
})
await once(server.listen(0, "127.0.0.1"), "listening")
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

process.on("uncaughtException", (error) => console.log("uncaught:", error.message))

const cases = [["POST", null], ["PUT", null], ["PATCH", null], ["PATCH", "{}"], ["DELETE", null], [
  "DELETE",
  "{}"
]] as const

for (const [method, body] of cases) {
  const answer = new H2CClient(origin)
    .request({ path: "/", method, body })
    .then((response) => response.body.text())
    .catch((error: unknown) => String(error))
  const nothing = new Promise<string>((resolve) => setTimeout(resolve, 2_000, "no answer in 2 s"))
  console.log(method, body, await Promise.race([answer, nothing]))
}
process.exit()
