import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Stream } from "effect"

const server = createServer(() => {})
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

for (const [name, layer] of Object.entries({ fetch: FetchHttpClient.layer, undici: NodeHttpClient.layerUndici })) {
  let isFinalized = false
  const body = Stream.ensuring(
    Stream.concat(Stream.make(new Uint8Array(1)), Stream.never),
    Effect.sync(() => {
      isFinalized = true
    })
  )
  const request = HttpClientRequest.post(url).pipe(HttpClientRequest.bodyStream(body))
  await Effect.runPromise(
    HttpClient.execute(request).pipe(Effect.timeoutOption("1 second"), Effect.provide(layer))
  )
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  console.log(name, isFinalized)
}
process.exit()
