/**
 * Both routes of the service on node:http alone, so that 100,000 searches cost little. A term says how it is answered:
 * after a time, "lentils 20 ms"; with a status, once or always, "lentils status 503 once"; nested deep, "lentils nested".
 */
import { createServer } from "node:http"

export type Order = { readonly name: "look" } | { readonly name: "hangTokens" }

export interface Greeting {
  readonly port: number
}

export interface Sight {
  readonly exchanges: number
  readonly searches: number
  readonly searchesAtOnce: number
}

let sight: Sight = { exchanges: 0, searches: 0, searchesAtOnce: 0 }
let running = 0
let tokensHang = false

const token = JSON.stringify({ access_token: "t-1", customer_id: "c-1", expires_in: 86_155, token_type: "Bearer" })

const failedOnce = new Set<string>()

const statusOf = (term: string): number => {
  const [, status = "200", once] = / status (\d+)( once)?/.exec(term) ?? []
  if (once !== undefined && failedOnce.has(term)) return 200
  failedOnce.add(term)
  return Number(status)
}

const bodyOf = (term: string): string =>
  term.endsWith(" nested")
    ? "[".repeat(1_000_000) + "]".repeat(1_000_000)
    : JSON.stringify({ results: [{ name: term }], alternateNames: [] })

const server = createServer((request, response) => {
  if (request.method === "POST") {
    sight = { ...sight, exchanges: sight.exchanges + 1 }
    if (!tokensHang) response.setHeader("content-type", "application/json").end(token)
    return
  }
  running += 1
  sight = { ...sight, searches: sight.searches + 1, searchesAtOnce: Math.max(sight.searchesAtOnce, running) }
  const term = new URL(request.url ?? "/", "http://service").searchParams.get("term") ?? ""
  const answer = () => {
    running -= 1
    const status = statusOf(term)
    const body = status === 200 ? bodyOf(term) : "{}"
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(
      body
    )
  }
  const millis = Number(/ (\d+) ms/.exec(term)?.[1] ?? 0)
  if (millis === 0) answer()
  else setTimeout(answer, millis)
})

process.on("message", ({ id, order }: { readonly id: number; readonly order: Order }) => {
  if (order.name === "hangTokens") tokensHang = true
  process.send?.({ id, sight })
})
process.once("disconnect", () => process.exit())

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ port: typeof address === "object" ? address?.port : 0 })
})
