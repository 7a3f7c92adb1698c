/** Responses that no good service sends, valid HTTP or not. */
import type { OutgoingHttpHeaders } from "node:http"
import { gzipSync } from "node:zlib"
import { type Handler, replying } from "../../support/doubles/Wire.js"

type Bytes = string | Uint8Array

export const megabyte = 1024 * 1024

/** A complete response in chunks. */
export const chunked = (body: Bytes, headers: OutgoingHttpHeaders = {}, status = 200): Handler => (_, response) => {
  response.writeHead(status, headers).write(body)
  response.end()
}

/** Bytes as they are, after which the server closes its side. */
export const raw = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  socket?.end(Buffer.concat(parts.map((part) => Buffer.from(part))))
}

export const head = (...headers: ReadonlyArray<string>) => `${["HTTP/1.1 200 OK", ...headers].join("\r\n")}\r\n\r\n`

/** Bytes as they are, after which the server breaks the connection. */
export const cut = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  socket?.write(Buffer.concat(parts.map((part) => Buffer.from(part))), () => socket.resetAndDestroy())
}

const block = Buffer.alloc(64 * 1024, " ")

/** An endless body, no faster than it is read. `poured` gets the number of bytes of each block. */
export const flood =
  (headers: OutgoingHttpHeaders = {}, status = 200, poured = (_: number) => {}): Handler => (_, response) => {
    response.writeHead(status, headers)
    const pour = () => {
      while (!response.destroyed) {
        poured(block.length)
        if (!response.write(block)) {
          response.once("drain", pour)
          return
        }
      }
    }
    pour()
  }

/** First the given bytes, then one a second. */
export const drip = (...parts: ReadonlyArray<Bytes>): Handler => (_, { socket }) => {
  if (socket === null) return
  socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))))
  const timer = setInterval(() => socket.write("x"), 1_000)
  socket.once("close", () => clearInterval(timer))
}

/** One byte a second in a chunk of its own. */
export const dripChunks: Handler = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" }).write(" ")
  const timer = setInterval(() => response.write(" "), 1_000)
  response.once("close", () => clearInterval(timer))
}

/** A megabyte and a bit on the wire that inflates to a gigabyte. */
const bomb = Buffer.concat(Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(10 * megabyte, " "))))

export const gzipBomb: Handler = replying(bomb, { "content-encoding": "gzip" })
