/**
 * Both routes of the service on node:http alone, which notes when it was sent what. It answers after a few milliseconds; the
 * search of the number `limitedAt` with 429, and "bad" terms with 400.
 */
import { createServer } from "node:http"

export type Order = { readonly name: "look" }

export interface Greeting {
  readonly port: number
}

export interface Sight {
  readonly exchanges: number
  readonly terms: ReadonlyArray<string>
  /** Milliseconds of this process, when each came. */
  readonly times: ReadonlyArray<number>
  /** How many had come when the 429 was sent, and when it was. */
  readonly limited: { readonly searches: number; readonly at: number } | undefined
  readonly now: number
}

const limitedAt = 2_500

const token = JSON.stringify({ access_token: "t-1", customer_id: "c-1", expires_in: 86_155, token_type: "Bearer" })

const terms: Array<string> = []
const times: Array<number> = []
let exchanges = 0
let limited: Sight["limited"]

const server = createServer((request, response) => {
  if (request.method === "POST") {
    exchanges += 1
    response.setHeader("content-type", "application/json").end(token)
    return
  }
  const term = new URL(request.url ?? "/", "http://service").searchParams.get("term") ?? ""
  terms.push(term)
  times.push(performance.now())
  const isLimit = terms.length === limitedAt
  setTimeout(() => {
    if (isLimit) {
      limited = { searches: terms.length, at: performance.now() }
      response.writeHead(429, { "retry-after": "3" }).end()
    } else if (term.startsWith("bad ")) {
      response.writeHead(400).end()
    } else {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results: [{ name: term }] }))
    }
  }, 20)
})

process.on("message", ({ id }: { readonly id: number; readonly order: Order }) => {
  const sight: Sight = { exchanges, terms, times, limited, now: performance.now() }
  process.send?.({ id, sight })
})
process.once("disconnect", () => process.exit())

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ port: typeof address === "object" ? address?.port : 0 })
})
