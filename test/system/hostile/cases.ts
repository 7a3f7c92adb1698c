/** Responses that no good service sends, each with how a search ends, and a token call if it ends differently. */
import { tokenBody } from "../../support/doubles/Wire.js"
import { chunked, cut, head, json, raw, type Reply, respond } from "./replies.js"

/** One ending with every client, or another one with those that are named. */
export type Expected = string | { readonly usual: string } & Readonly<Record<string, string>>

export interface Case {
  readonly name: string
  readonly reply: Reply
  readonly search: Expected
  readonly token: Expected
}

const same = (name: string, reply: Reply, search: Expected, token: Expected = search): Case => ({
  name,
  reply,
  search,
  token
})

const schema = "UnexpectedResponse Schema 200"
const aborted = "TransportError Aborted"
const connection = "TransportError Connection"

const foods = "{\"foods\":[]}"

/** A response that a search accepts and an exchange does not. */
const good = (name: string, reply: Reply): Case => same(name, reply, `found ${foods}`, schema)

const isChunked = "transfer-encoding: chunked"

export const bodies: ReadonlyArray<Case> = [
  same("no body, with 204", respond("", {}, 204), "UnexpectedResponse NotJson 204"),
  good("JSON with the content type HTML", respond(foods, { "content-type": "text/html" })),
  same("a body cut in the middle", cut(head("content-length: 1000"), foods), aborted),
  same("a body that ends before its length", raw(head("content-length: 1000"), foods), aborted),
  same("a chunk cut in the middle", cut(head(isChunked), "ff\r\n", foods), aborted),
  same("a chunk whose size is not a number", raw(head(isChunked), "zz\r\n", foods), aborted),
  good(
    "a response after 103 Early Hints",
    raw("HTTP/1.1 103 Early Hints\r\n\r\n", head(`content-length: ${foods.length}`), foods)
  ),
  good("a body that ends with the connection", raw(head("connection: close"), foods)),
  good("a second response without a request", raw(head("content-length: 12"), foods, head("content-length: 2"), "[]")),
  same("a plain body with the content encoding gzip", json(foods, { "content-encoding": "gzip" }), {
    usual: `found ${foods}`,
    fetch: aborted
  }, { usual: schema, fetch: aborted }),
  same(
    "a token behind a __proto__ key",
    json(`{"__proto__":${tokenBody}}`),
    `found {"__proto__":${tokenBody}}`,
    schema
  )
]

const long = "x".repeat(20_000)

const many = (count: number) => Array.from({ length: count }, (_, index) => `x-header-${index}: x`)

const length = `content-length: ${foods.length}`

const foodsWith = (...headers: ReadonlyArray<string>): Reply => raw(head(length, ...headers), foods)

export const headers: ReadonlyArray<Case> = [
  same("one header of 20,000 characters", foodsWith(`x-long: ${long}`), connection),
  same("10,000 headers", foodsWith(...many(10_000)), connection),
  good("500 headers", foodsWith(...many(500))),
  same("two content-lengths that differ", foodsWith("content-length: 5"), connection),
  same("a content-length beside chunks", foodsWith(isChunked), connection),
  good("headers with the names of Object.prototype", foodsWith("__proto__: x", "constructor: x", "toString: x")),
  same("a NUL byte in a header", foodsWith("x-nul: a\0b"), connection),
  same("a greeting of a mail server", raw("220 mail.example ESMTP\r\n"), connection),
  same("a connection that ends at once", raw(), aborted),
  same("a connection that breaks within the headers", cut("HTTP/1.1 200 OK\r\ncontent-le"), aborted),
  same("a redirect to itself", respond("", { location: "/" }, 302), "UnexpectedResponse Redirect 302"),
  same(
    "a redirect to an invalid URL",
    chunked("moved", { location: "http://[" }, 308),
    "UnexpectedResponse Redirect 308"
  )
]
