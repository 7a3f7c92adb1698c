import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"

export type Reply = (response: ServerResponse) => void

type Bytes = string | Uint8Array

export const megabyte = 1024 * 1024

export const goodToken = JSON.stringify({
  access_token: "a-token",
  customer_id: "a-customer",
  expires_in: 86_155,
  token_type: "Bearer"
})

/** A whole answer with its length. */
export const answer = (body: Bytes, headers: OutgoingHttpHeaders = {}, status = 200): Reply => (response) => {
  response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers }).end(body)
}

export const json = (body: Bytes, headers: OutgoingHttpHeaders = {}, status = 200): Reply =>
  answer(body, { "content-type": "application/json", ...headers }, status)

/** A whole answer in chunks. */
export const chunked = (body: Bytes, headers: OutgoingHttpHeaders = {}, status = 200): Reply => (response) => {
  response.writeHead(status, headers).write(body)
  response.end()
}

/** Bytes as they are, after which the server closes its side. */
export const raw = (...parts: ReadonlyArray<Bytes>): Reply => ({ socket }) => {
  socket?.end(Buffer.concat(parts.map((part) => Buffer.from(part))))
}

export const head = (...headers: ReadonlyArray<string>) => `${["HTTP/1.1 200 OK", ...headers].join("\r\n")}\r\n\r\n`

/** Bytes as they are, after which the server breaks the connection. */
export const cut = (...parts: ReadonlyArray<Bytes>): Reply => ({ socket }) => {
  socket?.write(Buffer.concat(parts.map((part) => Buffer.from(part))), () => socket.resetAndDestroy())
}

const block = Buffer.alloc(64 * 1024, " ")

/** As many bytes as it says, no faster than they are taken, until the connection closes. */
export const flood = (bytes: number, headers: OutgoingHttpHeaders = {}, status = 200): Reply => (response) => {
  response.writeHead(status, headers)
  let left = bytes
  const pour = () => {
    while (left > 0) {
      if (response.destroyed) return
      left -= block.length
      if (!response.write(block)) {
        response.once("drain", pour)
        return
      }
    }
    response.end()
  }
  pour()
}

/** First the given bytes, then one a second. */
export const drip = (...parts: ReadonlyArray<Bytes>): Reply => ({ socket }) => {
  if (socket === null) return
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))))
  const timer = setInterval(() => socket.write("x"), 1_000)
  socket.once("close", () => clearInterval(timer))
}

/** The given bytes, and nothing after them. */
export const stall = (bytes: Bytes): Reply => ({ socket }) => {
  socket?.write(bytes)
}

/** One byte a second in a chunk of its own. */
export const dripChunks: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" }).write(" ")
  const timer = setInterval(() => response.write(" "), 1_000)
  response.once("close", () => clearInterval(timer))
}

/** A megabyte and a bit on the wire that inflates to a gigabyte. */
const bomb = Buffer.concat(Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(10 * megabyte, " "))))

export const gzipBomb: Reply = answer(bomb, { "content-encoding": "gzip" })

export const nestedBomb: Reply = answer(gzipSync(bomb), { "content-encoding": "gzip, gzip" })

/** A body in HTTP chunks of so many bytes each, no faster than they are taken; the client sees each of them by itself. */
export const crumbs =
  (bytes: number, size: number, headers: OutgoingHttpHeaders = {}, status = 200): Reply => ({ socket }) => {
    if (socket === null) return
    const lines = Object.entries({ "transfer-encoding": "chunked", ...headers }).map(([name, value]) =>
      `${name}: ${value}`
    )
    socket.write(`${[`HTTP/1.1 ${status} Whatever`, ...lines].join("\r\n")}\r\n\r\n`)
    const chunk = `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`
    const batch = Buffer.from(chunk.repeat(Math.ceil(block.length / size)))
    let left = Math.ceil(bytes / size)
    const pour = () => {
      while (left > 0) {
        if (socket.destroyed) return
        const written = Math.min(left, batch.length / chunk.length)
        left -= written
        if (!socket.write(batch.subarray(0, written * chunk.length))) {
          socket.once("drain", pour)
          return
        }
      }
      socket.write("0\r\n\r\n")
    }
    pour()
  }
