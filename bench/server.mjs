/**
 * The service, in a process that leaves its core as idle as possible: it writes prepared responses straight to the socket. A search needs
 * both headers, so a client can't gain time by leaving one out.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { payload } from "./payload.mjs"
import { serve } from "./processes.mjs"
import { customer } from "./service.mjs"

const counts = { searches: 0, rejections: 0, exchanges: 0, connections: 0 }

/** The Authorization headers that are accepted. */
const accepted = new Set()

/** The sockets that wait for a response, while responses are held back. */
let held

const response = (status, body, length = `content-length: ${Buffer.byteLength(body)}`) =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${length}\r\n` +
      `connection: keep-alive\r\nkeep-alive: timeout=600\r\n\r\n${body}`
  )

const chunked = `${Buffer.byteLength(payload).toString(16)}\r\n${payload}\r\n0\r\n\r\n`

/** `BENCH_CHUNKED=1` leaves out the length, as most proxies that compress do. */
const found = process.env.BENCH_CHUNKED === undefined
  ? response("200 OK", payload)
  : response("200 OK", chunked, "transfer-encoding: chunked")

const forbidden = response("403 Forbidden", "{\"error\":\"token not accepted\"}")

const search = (socket, head) => {
  const authorization = /\r\nauthorization: *([^\r]*)/i.exec(head)?.[1]
  const serviceId = /\r\nservice-id: *([^\r]*)/i.exec(head)?.[1]
  if (!accepted.has(authorization) || serviceId !== customer) {
    counts.rejections += 1
    return socket.write(forbidden)
  }
  counts.searches += 1
  return held === undefined ? socket.write(found) : held.push(socket)
}

const exchange = (socket) => {
  counts.exchanges += 1
  const accessToken = randomUUID()
  accepted.add(`Bearer ${accessToken}`)
  const token = { access_token: accessToken, customer_id: customer, expires_in: 86155.482, token_type: "Bearer" }
  socket.write(response("200 OK", JSON.stringify(token)))
}

const respond = (socket, head) => {
  if (head.startsWith("GET /v2/products/napi/food/search/semantic?term=")) search(socket, head)
  else if (head.startsWith("POST /v2/token-cache/nutrition-advisor/oauth/licence/")) exchange(socket)
  else socket.write(response("404 Not Found", "{}"))
  if (/\r\nconnection: *close/i.test(head)) socket.end()
}

const server = createServer({ noDelay: true }, (socket) => {
  counts.connections += 1
  let rest = ""
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk) => {
    rest += chunk.toString("latin1")
    for (let at = rest.indexOf("\r\n\r\n"); at !== -1; at = rest.indexOf("\r\n\r\n")) {
      respond(socket, rest.slice(0, at))
      rest = rest.slice(at + 4)
    }
  })
})

serve({
  listen: () =>
    new Promise((resolve) =>
      server.listen({ host: "127.0.0.1", port: 0, backlog: 16_384 }, () => resolve(server.address().port))
    ),
  counts: () => ({ ...counts, held: held?.length ?? 0 }),
  revoke: () => accepted.clear(),
  hold: () => {
    held = []
  },
  release: () => {
    for (const socket of held) socket.write(found)
    held = undefined
  }
})
