/**
 * The service as a process that uses as little of its core as can be: prepared answers, written straight to the socket. It is strict
 * where a wrong client would be quicker: a search needs both headers.
 */
import { randomUUID } from "node:crypto"
import { createServer } from "node:net"
import { payload } from "./payload.mjs"
import { obey } from "./processes.mjs"

const counts = { searches: 0, rejections: 0, exchanges: 0, connections: 0 }

const customer = randomUUID()

/** Authorization headers that are accepted. */
const valid = new Set()

/** Sockets whose answers are held back. */
let held

const issue = () => {
  const token = randomUUID()
  valid.add(`Bearer ${token}`)
  return token
}

const answer = (status, body, length = `content-length: ${Buffer.byteLength(body)}`) =>
  Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${length}\r\n` +
      `connection: keep-alive\r\nkeep-alive: timeout=600\r\n\r\n${body}`
  )

const chunked = `${Buffer.byteLength(payload).toString(16)}\r\n${payload}\r\n0\r\n\r\n`

/** With `BENCH_CHUNKED=1` an answer names no length, as most do that a proxy compresses. */
const found = process.env.BENCH_CHUNKED === undefined
  ? answer("200 OK", payload)
  : answer("200 OK", chunked, "transfer-encoding: chunked")

const forbidden = answer("403 Forbidden", "{\"error\":\"token not accepted\"}")

const search = (socket, head) => {
  const authorization = /\r\nauthorization: *([^\r]*)/i.exec(head)?.[1]
  const serviceId = /\r\nservice-id: *([^\r]*)/i.exec(head)?.[1]
  if (!valid.has(authorization) || serviceId !== customer) {
    counts.rejections += 1
    return socket.write(forbidden)
  }
  counts.searches += 1
  return held === undefined ? socket.write(found) : held.push(socket)
}

const exchange = (socket) => {
  counts.exchanges += 1
  const token = { access_token: issue(), customer_id: customer, expires_in: 86155.482, token_type: "Bearer" }
  socket.write(answer("200 OK", JSON.stringify(token)))
}

const meet = (socket, head) => {
  if (head.startsWith("GET /v2/products/napi/food/search/semantic?term=")) search(socket, head)
  else if (head.startsWith("POST /v2/token-cache/nutrition-advisor/oauth/licence/")) exchange(socket)
  else socket.write(answer("404 Not Found", "{}"))
  if (/\r\nconnection: *close/i.test(head)) socket.end()
}

const server = createServer({ noDelay: true }, (socket) => {
  counts.connections += 1
  let rest = ""
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk) => {
    rest += chunk.toString("latin1")
    for (let at = rest.indexOf("\r\n\r\n"); at !== -1; at = rest.indexOf("\r\n\r\n")) {
      meet(socket, rest.slice(0, at))
      rest = rest.slice(at + 4)
    }
  })
})

obey({
  listen: () =>
    new Promise((resolve) =>
      server.listen({ host: "127.0.0.1", port: 0, backlog: 16_384 }, () => resolve(server.address().port))
    ),
  look: () => ({ ...counts, held: held?.length ?? 0 }),
  /** A token without an exchange, for a client that has it hard-coded. */
  grant: () => ({ authorization: `Bearer ${issue()}`, serviceId: customer }),
  revoke: () => valid.clear(),
  hold: () => {
    held = []
  },
  release: () => {
    for (const socket of held) socket.write(found)
    held = undefined
  }
})
