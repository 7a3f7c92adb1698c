import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { HttpClient } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { Effect, Layer } from "effect"

let opened = 0
const server = createServer(() => {}).on("connection", () => opened++)
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const impatient = Layer.succeed(NodeHttpClient.Dispatcher, new Undici.Agent({ headersTimeout: 100 }))
const Client = NodeHttpClient.layerUndiciWithoutDispatcher.pipe(Layer.provide(impatient))

const answered = await Effect.runPromise(
  Effect.forEach(Array.from({ length: 500 }), () => HttpClient.get(url), { concurrency: "unbounded" }).pipe(
    Effect.timeoutOption("3 seconds"),
    Effect.disconnect,
    Effect.provide(Client)
  )
)
console.log(answered._tag, opened)
process.exit()
