/**
 * The service of SERVICE.md as a process that costs a client's core nothing and its own as little as can be: prepared answers,
 * written straight to the socket. It is strict where a wrong client would be quicker: a search needs both headers.
 */
import { randomUUID } from "node:crypto"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { obey } from "./orders.js"
import { payload } from "./payload.js"

export interface Sight {
  readonly searches: number
  readonly rejections: number
  readonly exchanges: number
  /** TCP connections that were opened. */
  readonly connections: number
  /** Searches whose answers are held back. */
  readonly held: number
  /** What the process has used of its core, and the time, both in microseconds. */
  readonly cpu: number
  readonly at: number
}

export interface Grant {
  readonly authorization: string
  readonly serviceId: string
}

export interface ServerOrders {
  readonly listen: () => Promise<{ readonly port: number }>
  readonly look: () => Promise<Sight>
  /** A token without an exchange, for a client that has it hard-coded. */
  readonly grant: (licenseKey: string) => Promise<Grant>
  readonly revoke: () => Promise<void>
  readonly hold: () => Promise<void>
  readonly release: () => Promise<void>
}

const counts = { searches: 0, rejections: 0, exchanges: 0, connections: 0 }

const customers = new Map<string, string>()

/** By Authorization header. */
const valid = new Map<string, string>()

let serial = 0

const customerOf = (licenseKey: string) => {
  const known = customers.get(licenseKey)
  if (known !== undefined) return known
  const customer = randomUUID()
  customers.set(licenseKey, customer)
  return customer
}

const issue = (licenseKey: string) => {
  const token = `${randomUUID()}${serial += 1}`
  valid.set(`Bearer ${token}`, customerOf(licenseKey))
  return token
}

const answer = (status: string, body: Buffer | string): Buffer => {
  const bytes = Buffer.from(body)
  return Buffer.concat([
    Buffer.from(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n` +
        "connection: keep-alive\r\nkeep-alive: timeout=600\r\n\r\n"
    ),
    bytes
  ])
}

const found = answer("200 OK", payload)

const forbidden = answer("403 Forbidden", "{\"error\":\"token not accepted\"}")

const notFound = answer("404 Not Found", "{\"error\":\"no such route\"}")

let held: Array<Socket> | undefined

const search = (socket: Socket, head: string) => {
  const authorization = /\r\nauthorization: *([^\r]*)/i.exec(head)?.[1] ?? ""
  const serviceId = /\r\nservice-id: *([^\r]*)/i.exec(head)?.[1]
  const customer = valid.get(authorization)
  if (customer === undefined || customer !== serviceId) {
    counts.rejections += 1
    socket.write(forbidden)
  } else {
    counts.searches += 1
    if (held === undefined) socket.write(found)
    else held.push(socket)
  }
}

const exchange = (socket: Socket, licenseKey: string) => {
  counts.exchanges += 1
  const token = {
    access_token: issue(licenseKey),
    customer_id: customerOf(licenseKey),
    expires_in: 86155.482,
    token_type: "Bearer",
    scope: "read:search"
  }
  socket.write(answer("200 OK", JSON.stringify(token)))
}

const tokenRoute = "POST /v2/token-cache/nutrition-advisor/oauth/licence/"

const searchRoute = "GET /v2/products/napi/food/search/semantic?term="

const meet = (socket: Socket, head: string) => {
  if (head.startsWith(searchRoute)) search(socket, head)
  else if (head.startsWith(tokenRoute)) {
    exchange(socket, head.slice(tokenRoute.length, head.indexOf(" ", tokenRoute.length)))
  } else socket.write(notFound)
  if (/\r\nconnection: *close/i.test(head)) socket.end()
}

const end = "\r\n\r\n"

const server = createServer({ noDelay: true }, (socket) => {
  counts.connections += 1
  let rest = ""
  socket.on("error", () => socket.destroy())
  socket.on("data", (chunk) => {
    rest += chunk.toString("latin1")
    for (let at = rest.indexOf(end); at !== -1; at = rest.indexOf(end)) {
      const head = rest.slice(0, at)
      rest = rest.slice(at + end.length)
      meet(socket, head)
    }
  })
})

obey<ServerOrders>({
  listen: () =>
    new Promise((resolve) =>
      server.listen(
        { host: "127.0.0.1", port: 0, backlog: 16_384 },
        () => resolve({ port: (server.address() as AddressInfo).port })
      )
    ),
  look: () => {
    const { system, user } = process.cpuUsage()
    const at = Number(process.hrtime.bigint() / 1000n)
    return Promise.resolve({ ...counts, held: held?.length ?? 0, cpu: user + system, at })
  },
  grant: (licenseKey) =>
    Promise.resolve({ authorization: `Bearer ${issue(licenseKey)}`, serviceId: customerOf(licenseKey) }),
  revoke: () => Promise.resolve(valid.clear()),
  hold: () => {
    held = []
    return Promise.resolve()
  },
  release: () => {
    for (const socket of held ?? []) socket.write(found)
    held = undefined
    return Promise.resolve()
  }
})
