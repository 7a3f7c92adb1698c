/** Run it with the word `canceler`, then without: what V8 promotes differs. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { Agent, type Dispatcher } from "undici"

const role = process.argv[2]

const requests = 200_000

class Buffering implements Dispatcher.DispatchHandler {
  controller: Dispatcher.DispatchController | undefined
  private readonly chunks: Array<Buffer> = []

  constructor(private readonly resume: (effect: Effect.Effect<Buffer>) => void) {}

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.controller = controller
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer) {
    this.chunks.push(chunk)
  }

  onResponseEnd() {
    this.resume(Effect.succeed(Buffer.concat(this.chunks)))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    this.resume(Effect.die(error))
  }
}

const serve = () => {
  const body = JSON.stringify({ note: "n".repeat(2_000) })
  const server = createServer((_, response) => response.end(body))
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
  process.on("disconnect", () => process.exit())
}

const ask = async () => {
  const server = fork(fileURLToPath(import.meta.url), ["server"], { execArgv: [] })
  const [port] = await once(server, "message")
  const origin = `http://127.0.0.1:${port}`
  const agent = new Agent()
  const request = Effect.async<Buffer>((resume) => {
    const handler = new Buffering(resume)
    agent.dispatch({ origin, path: "/", method: "GET" }, handler)
    return role === "canceler" ? Effect.sync(() => handler.controller?.abort(new Error("interrupted"))) : undefined
  })
  let left = requests
  await Effect.runPromise(Effect.whileLoop({ while: () => left-- > 0, body: () => request, step: () => {} }))
  await agent.close()
  server.disconnect()
}

if (role === "server") serve()
else await ask()
