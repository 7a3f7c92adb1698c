/**
 * Both routes of the service on node:http alone, so that 100,000 searches cost little. A term says how it is answered: after a time,
 * "lentils 20 ms"; with a status, once or always, "lentils status 503 once"; not before three seconds are over, "lentils status 429
 * once, retry-after 3"; nested deep, "lentils nested".
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Letter } from "../storms/OrderedProcess.js"

export interface Order {
  readonly name: "look" | "list" | "hangTokens"
}

export interface Greeting {
  readonly port: number
}

export interface Sight {
  readonly exchanges: number
  readonly searches: number
  readonly searchesAtOnce: number
  /** Milliseconds of this process: now, and when a time to wait was sent. */
  readonly now: number
  readonly limitedAt?: number
  /** What was searched for, and when: it may be much, and is told only where it is asked for by "list". */
  readonly terms: ReadonlyArray<string>
  readonly times: ReadonlyArray<number>
}

let counted = { exchanges: 0, searches: 0, searchesAtOnce: 0 }
let limited: { limitedAt?: number } = {}
let running = 0
let tokensHang = false

const terms: Array<string> = []
const times: Array<number> = []

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

const headersOf = (term: string, status: number): Record<string, string> => {
  const [, seconds] = / retry-after (\d+)/.exec(term) ?? []
  if (status === 200 || seconds === undefined) return {}
  limited = { limitedAt: performance.now() }
  return { "retry-after": seconds }
}

const server = createServer((request, response) => {
  if (request.method === "POST") {
    counted = { ...counted, exchanges: counted.exchanges + 1 }
    if (!tokensHang) response.setHeader("content-type", "application/json").end(token)
    return
  }
  running += 1
  counted = {
    ...counted,
    searches: counted.searches + 1,
    searchesAtOnce: Math.max(counted.searchesAtOnce, running)
  }
  const term = new URL(request.url ?? "/", "http://service").searchParams.get("term") ?? ""
  terms.push(term)
  times.push(performance.now())
  const answer = () => {
    running -= 1
    const status = statusOf(term)
    const body = status === 200 ? bodyOf(term) : "{}"
    const length = { "content-length": Buffer.byteLength(body) }
    response.writeHead(status, { "content-type": "application/json", ...length, ...headersOf(term, status) }).end(body)
  }
  const millis = Number(/ (\d+) ms/.exec(term)?.[1] ?? 0)
  if (millis === 0) answer()
  else setTimeout(answer, millis)
})

process.on("message", ({ id, order }: Letter<Order>) => {
  if (order.name === "hangTokens") tokensHang = true
  const listed = order.name === "list" ? { terms, times } : { terms: [], times: [] }
  const sight: Sight = { ...counted, ...limited, ...listed, now: performance.now() }
  process.send?.({ id, sight })
})
process.once("disconnect", () => process.exit())

server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))
