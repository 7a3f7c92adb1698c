import { brotliCompressSync, gzipSync } from "node:zlib"
import { answer, chunked, cut, goodToken, head, json, raw, type Reply } from "./replies.js"

/** One ending with every client, or one for each. */
export type Expected = string | Readonly<Record<"undici" | "node:http" | "fetch" | "UndiciClient", string>>

export interface Case {
  readonly name: string
  readonly reply: Reply
  readonly search: Expected
  readonly token: Expected
}

export const same = (name: string, reply: Reply, search: Expected, token: Expected = search): Case => ({
  name,
  reply,
  search,
  token
})

const notJson = "UnexpectedResponse NotJson 200"
const schema = "UnexpectedResponse Schema 200"
const aborted = "TransportError Aborted"
const connection = "TransportError Connection"

const foods = "{\"foods\":[]}"

/** An answer that is none to an exchange. */
const good = (name: string, reply: Reply): Case => same(name, reply, `answered ${foods}`, schema)

const inflatedByFetchAlone = (ending: string): Expected => ({
  undici: notJson,
  "node:http": notJson,
  fetch: ending,
  UndiciClient: notJson
})

export const bodies: ReadonlyArray<Case> = [
  same("empty", answer(""), notJson),
  same("empty, in chunks", chunked(""), notJson),
  same("white space", json(" \r\n\t"), notJson),
  same("absent, with 204", answer("", {}, 204), "UnexpectedResponse NotJson 204"),
  same("absent, with 205", answer("", {}, 205), "UnexpectedResponse NotJson 205"),
  same(
    "there, though 204 says there is none",
    raw("HTTP/1.1 204 No Content\r\n\r\n", foods),
    "UnexpectedResponse NotJson 204"
  ),
  same("null", json("null"), "answered null", schema),
  same("an empty array", json("[]"), "answered []", schema),
  same("a number", json("7"), "answered 7", schema),
  same("a page of HTML", answer("<!doctype html><title>Oops</title>", { "content-type": "text/html" }), notJson),
  good("JSON called HTML", answer(foods, { "content-type": "text/html" })),
  same("two JSON texts", json(foods + foods), notJson),
  same("half a JSON text of whole length", json("{\"foods\":["), notJson),
  good("JSON after a byte order mark", json(`\ufeff${foods}`)),
  same("JSON after two byte order marks", json(`\ufeff\ufeff${foods}`), notJson),
  same("invalid UTF-8 in a string", json(Buffer.from("22c328ff22", "hex")), notJson),
  same("UTF-8 cut in the middle of a character", json(Buffer.from("22e282", "hex")), notJson),
  same("UTF-16", json(Buffer.from(`\ufeff${foods}`, "utf16le")), notJson),
  same("NUL bytes", json(new Uint8Array(1_000)), notJson),
  same(
    "cut in the middle, with a length",
    cut(head("content-type: application/json", "content-length: 1000"), foods),
    aborted
  ),
  same(
    "cut in the middle, with a length above the limit",
    cut(head("content-type: application/json", "content-length: 99999999"), foods),
    aborted
  ),
  same(
    "ended before its length",
    raw(head("content-type: application/json", "content-length: 1000"), foods),
    aborted
  ),
  same("cut in the middle of a chunk", cut(head("transfer-encoding: chunked"), "ff\r\n", foods), aborted),
  same("cut between two chunks", cut(head("transfer-encoding: chunked"), "c\r\n", foods, "\r\n"), aborted),
  same("in chunks with a size that is no number", raw(head("transfer-encoding: chunked"), "zz\r\n", foods), aborted),
  same("in a chunk of 2^64 bytes", raw(head("transfer-encoding: chunked"), "ffffffffffffffffff\r\n", foods), aborted),
  good("as long as the connection holds", raw(head("connection: close"), foods)),
  good("longer than its length", raw(head("content-length: 12"), foods, foods)),
  good(
    "followed by an answer that nobody asked for",
    raw(head("content-length: 12"), foods, head("content-length: 2"), "[]")
  ),
  same(
    "packed with gzip",
    json(gzipSync(foods), { "content-encoding": "gzip" }),
    inflatedByFetchAlone(`answered ${foods}`),
    inflatedByFetchAlone(schema)
  ),
  same(
    "packed with brotli",
    json(brotliCompressSync(foods), { "content-encoding": "br" }),
    inflatedByFetchAlone(`answered ${foods}`),
    inflatedByFetchAlone(schema)
  ),
  same("called gzip, and plain", json(foods, { "content-encoding": "gzip" }), {
    undici: `answered ${foods}`,
    "node:http": `answered ${foods}`,
    fetch: aborted,
    UndiciClient: `answered ${foods}`
  }, { undici: schema, "node:http": schema, fetch: aborted, UndiciClient: schema }),
  same(
    "gzip cut in the middle",
    json(gzipSync(foods).subarray(0, 15), { "content-encoding": "gzip" }),
    inflatedByFetchAlone(notJson)
  ),
  good("called an encoding that nobody knows", json(foods, { "content-encoding": "nonsense" })),
  same(
    "an own __proto__ key",
    json("{\"__proto__\":{\"polluted\":true}}"),
    "answered {\"__proto__\":{\"polluted\":true}}",
    schema
  ),
  same(
    "a token behind a __proto__ key",
    json(`{"__proto__":${goodToken}}`),
    `answered {"__proto__":${goodToken}}`,
    schema
  ),
  same(
    "a token beside a __proto__ and a constructor key",
    json(`{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${goodToken.slice(1)}`),
    `answered {"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${goodToken.slice(1)}`,
    "issued a-token"
  )
]

const long = "x".repeat(20_000)

const many = (count: number) => Array.from({ length: count }, (_, index) => `x-header-${index}: x`)

const length = `content-length: ${foods.length}`

const answered = (...headers: ReadonlyArray<string>): Reply => raw(head(length, ...headers), foods)

export const headers: ReadonlyArray<Case> = [
  same("one header of 20,000 characters", answered(`x-long: ${long}`), connection),
  same("one header name of 20,000 characters", answered(`${long}: x`), connection),
  same("a status text of 20,000 characters", raw(`HTTP/1.1 200 ${long}\r\n${length}\r\n\r\n`, foods), {
    undici: `answered ${foods}`,
    "node:http": connection,
    fetch: `answered ${foods}`,
    UndiciClient: `answered ${foods}`
  }, { undici: schema, "node:http": connection, fetch: schema, UndiciClient: schema }),
  same("10,000 headers", answered(...many(10_000)), connection),
  good("500 headers", answered(...many(500))),
  same("the same content-length twice", answered(length), connection),
  same("two content-lengths that differ", answered("content-length: 5"), connection),
  same("a negative content-length", raw(head("content-length: -1"), foods), connection),
  same("a content-length that is no number", raw(head("content-length: twelve"), foods), connection),
  same("a content-length of 2^64", raw(head("content-length: 18446744073709551616"), foods), connection),
  same("a content-length beside chunks", answered("transfer-encoding: chunked"), connection),
  good("the same content-type three times", answered("content-type: a/b", "content-type: a/b", "content-type: a/c")),
  good(
    "headers named as what every object has",
    answered("__proto__: x", "constructor: x", "toString: x", "hasOwnProperty: x")
  ),
  good("two __proto__ headers", answered("__proto__: polluted", "__proto__: polluted")),
  good(
    "a header in UTF-8 and one in Latin-1",
    raw(head(length, "x-euro: €").slice(0, -2), Buffer.from("x-latin: \xff\r\n\r\n", "latin1"), foods)
  ),
  same("a NUL byte in a header", answered("x-nul: a\0b"), connection),
  same("a header without a name", answered(": x"), connection),
  same("a header without a colon", answered("nonsense"), connection),
  good("a set-cookie that is no cookie", answered("set-cookie: =;=;;;%%%", "set-cookie: ")),
  same("no HTTP at all", raw("220 mail.example ESMTP\r\n"), connection),
  same("another version of HTTP", raw("HTTP/9.9 200 OK\r\n\r\n"), connection),
  same("a connection that ends at once", raw(), aborted),
  same("a connection that breaks at once", cut("HTT"), aborted),
  same("a connection that breaks within the headers", cut("HTTP/1.1 200 OK\r\ncontent-le"), aborted)
]
