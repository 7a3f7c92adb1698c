import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import * as Url from "../../src/internal/http/url.js"

const base: Url.BaseUrl = { origin: "https://advisor.example", pathname: "/proxy/advisor" }

const bare: Url.BaseUrl = { origin: "https://advisor.example", pathname: "" }

const wellFormed = FastCheck.string({ unit: "binary", maxLength: 200 })

const reserved = ":/?#[]@!$&'()*+,;="

const hostile = [".", "..", "%2e", "%", reserved, "a\r\nb", "🥑", "a b", "+", "x".repeat(100_000), ""]

it.prop(
  "isWellFormed: a string is well-formed if encodeURIComponent can encode it",
  [FastCheck.string16bits()],
  ([text]) => {
    expect(Url.isWellFormed(text)).toBe(Either.isRight(Either.try(() => encodeURIComponent(text))))
  },
  { fastCheck: { examples: [["\ud800"], ["\udc00"], ["🥑"], ["\ud800\udc00"], ["\udc00\ud800"], ["a\ud800b"]] } }
)

describe("URL encode", () => {
  it.prop("decoding once restores the string", [wellFormed], ([text]) => {
    expect(decodeURIComponent(Url.encode(text))).toBe(text)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })

  it.prop("the result contains only unreserved characters and escapes", [wellFormed], ([text]) => {
    expect(Url.encode(text)).toMatch(/^([\w.~-]|%[\dA-F]{2})*$/)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })
})

it.prop(
  "URL query: parsing it restores the pairs",
  [FastCheck.array(FastCheck.tuple(wellFormed, wellFormed))],
  ([pairs]) => {
    FastCheck.pre(pairs.every(([name, value]) => name !== "" || value !== ""))
    expect([...new URLSearchParams(Url.query(pairs))]).toEqual(pairs)
  },
  { fastCheck: { examples: [[[["a", "1"], ["a", "2"]]], [[["&=", "+ %2B"]]], [[["term", "?&#+%/"]]]] } }
)

describe("URL below the base URL", () => {
  it.each([
    ["/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/y/../x", "https://advisor.example/proxy/advisor/v2/x"],
    ["https://advisor.example/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["https://advisor.example/proxy/advisor", "https://advisor.example/proxy/advisor"],
    ["HTTPS://ADVISOR.EXAMPLE/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["https://advisor.example:443/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["//advisor.example/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/a%2Fb", "https://advisor.example/proxy/advisor/v2/a%2Fb"],
    ["v2/y%2f..%2fx", "https://advisor.example/proxy/advisor/v2/y%2f..%2fx"],
    ["v2/x?next=..%2f..%2f..%2f..%2f", "https://advisor.example/proxy/advisor/v2/x?next=..%2f..%2f..%2f..%2f"]
  ])("%s resolves to %s", (path, expected) => {
    expect(Url.resolveWithin(base, path)?.href).toBe(expected)
  })

  it.each([
    "https://other.example/proxy/advisor/v2/x",
    "//other.example/v2/x",
    "https://other.example:99999",
    "\\\\other.example/v2/x",
    "https://advisor.example@other.example/v2/x",
    "https://user@advisor.example/proxy/advisor/v2/x",
    "https://:word@advisor.example/proxy/advisor/v2/x",
    "http://advisor.example/proxy/advisor/v2/x",
    "https://advisor.example:8443/proxy/advisor/v2/x",
    "ftp://advisor.example/proxy/advisor/v2/x",
    "blob:https://advisor.example/proxy/advisor/v2/x",
    "javascript:alert(1)",
    "../x",
    "v2/../../x",
    "/%2E%2E/%2e%2e/x",
    "\\..\\..\\x",
    "../advisor-other/x",
    "https://advisor.example//proxy/advisor/v2/x",
    "https://advisor.example/proxy/advisory/x",
    "https://advisor.example/proxy/advisor/../x",
    "https://advisor.example/PROXY/ADVISOR/v2/x"
  ])("%j is rejected, because it is outside the base URL", (url) => {
    expect(Url.resolveWithin(base, url)).toBeUndefined()
  })

  const hostileUrls = [
    "\t//other.example",
    "/\t/other.example",
    " https://other.example",
    "ht\ntps://other.example",
    "@other.example",
    ".other.example",
    ":8443"
  ]

  it.prop(
    "no URL leaves the origin, whether or not the base URL has a path",
    [FastCheck.oneof(FastCheck.webUrl(), FastCheck.string({ unit: "binary" }), FastCheck.webPath())],
    ([path]) => {
      for (const below of [base, bare]) {
        expect(Url.resolveWithin(below, path)?.origin ?? below.origin).toBe(below.origin)
      }
    },
    { fastCheck: { examples: hostileUrls.map((url): [string] => [url]) } }
  )
})
