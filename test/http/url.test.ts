import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Url from "../../src/internal/http/url.js"

const base: Url.Base = {
  href: "https://advisor.example/proxy/advisor",
  origin: "https://advisor.example",
  pathname: "/proxy/advisor"
}

const bare: Url.Base = { href: "https://advisor.example", origin: "https://advisor.example", pathname: "" }

const wellFormed = FastCheck.string({ unit: "binary", maxLength: 200 })

const reserved = ":/?#[]@!$&'()*+,;="

const hostile = [".", "..", "%2e", "%", reserved, "a\r\nb", "🥑", "a b", "+", "x".repeat(100_000), ""]

it.each([
  ["https://nutrition.example", "nutrition.example", 443],
  ["http://nutrition.example", "nutrition.example", 80],
  ["https://[::1]:8443", "::1", 8443]
])("URL serverAttributes: %s has the address %s and the port %i", (origin, address, port) => {
  expect(Url.serverAttributes({ href: origin, origin, pathname: "" }))
    .toEqual({ "server.address": address, "server.port": port })
})

describe("isWellFormed", () => {
  it.prop("a string is well formed if encodeURIComponent can encode it", [FastCheck.string16bits()], ([text]) => {
    const isEncodable = (() => {
      try {
        encodeURIComponent(text)
        return true
      } catch {
        return false
      }
    })()
    expect(Url.isWellFormed(text)).toBe(isEncodable)
  }, { fastCheck: { examples: [["\ud800"], ["\udc00"], ["🥑"], ["\ud800\udc00"], ["\udc00\ud800"], ["a\ud800b"]] } })
})

describe("URL encode", () => {
  it.prop("decoding once restores the string", [wellFormed], ([text]) => {
    expect(decodeURIComponent(Url.encode(text))).toBe(text)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })

  it.prop("the result contains only unreserved characters and escapes", [wellFormed], ([text]) => {
    expect(Url.encode(text)).toMatch(/^([\w.~-]|%[\dA-F]{2})*$/)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })

  it.prop("URL parsers keep an encoded path segment whole", [wellFormed], ([text]) => {
    FastCheck.pre(!Url.isDotSegment(Url.encode(text)))
    const encoded = Url.encode(text)
    expect(new URL(`https://advisor.example/a/${encoded}`).href).toBe(`https://advisor.example/a/${encoded}`)
  }, { fastCheck: { examples: [["%2e"], ["..."], ["/.."], ["?&#+%/"], ["a\r\nb"], ["\\"], ["🥑"]] } })
})

describe("URL query", () => {
  it.prop(
    "parsing the query restores the pairs",
    [FastCheck.array(FastCheck.tuple(wellFormed, wellFormed))],
    ([pairs]) => {
      FastCheck.pre(pairs.every(([name, value]) => name !== "" || value !== ""))
      expect([...new URLSearchParams(Url.query(pairs))]).toEqual(pairs)
    },
    { fastCheck: { examples: [[[["a", "1"], ["a", "2"]]], [[["&=", "+ %2B"]]], [[["term", "?&#+%/"]]]] } }
  )

  it("an empty list of pairs gives an empty query", () => {
    expect(Url.query([])).toBe("")
  })
})

describe("isDotSegment", () => {
  it.each([".", "..", "%2e", "%2E", ".%2e", "%2e.", "%2e%2E"])("%s is a dot segment", (segment) => {
    expect(Url.isDotSegment(segment)).toBe(true)
  })

  it.each(["", "...", "a.", ".a", "%2e%2e%2e", "%252e", "%2f"])("%j is not a dot segment", (segment) => {
    expect(Url.isDotSegment(segment)).toBe(false)
  })
})

describe("URL below the base URL", () => {
  it.each([
    ["/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/x?a=1", "https://advisor.example/proxy/advisor/v2/x?a=1"],
    ["v2/./x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/y/../x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/http://x", "https://advisor.example/proxy/advisor/v2/http://x"],
    ["https://advisor.example/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["https://advisor.example/proxy/advisor", "https://advisor.example/proxy/advisor"],
    ["HTTPS://ADVISOR.EXAMPLE/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["https://advisor.example:443/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["//advisor.example/proxy/advisor/v2/x", "https://advisor.example/proxy/advisor/v2/x"],
    ["v2/a%2Fb", "https://advisor.example/proxy/advisor/v2/a%2Fb"],
    ["v2/a%252Fb%25", "https://advisor.example/proxy/advisor/v2/a%252Fb%25"],
    ["v2/y%2f..%2fx", "https://advisor.example/proxy/advisor/v2/y%2f..%2fx"],
    ["v2/x?next=..%2f..%2f..%2f..%2f", "https://advisor.example/proxy/advisor/v2/x?next=..%2f..%2f..%2f..%2f"],
    ["v2/a..%2fb", "https://advisor.example/proxy/advisor/v2/a..%2fb"],
    ["v2/x;a=1;b=..%2f", "https://advisor.example/proxy/advisor/v2/x;a=1;b=..%2f"]
  ])("%s resolves to %s", (path, expected) => {
    expect(Url.resolveWithin(base, path)?.href).toBe(expected)
  })

  it.each([
    ...["https://other.example/proxy/advisor/v2/x", "//other.example/v2/x", "https://other.example:99999"],
    ...["\\\\other.example/v2/x", "/\\other.example/v2/x", "\\/other.example/v2/x", "https:\\\\other.example/v2/x"],
    ...["https://advisor.example.other.example/v2/x", "https://advisor.example@other.example/v2/x"],
    ...["https://user:word@advisor.example/proxy/advisor/v2/x", "https://user@advisor.example/proxy/advisor/v2/x"],
    ...["http://advisor.example/proxy/advisor/v2/x", "https://advisor.example:8443/proxy/advisor/v2/x"],
    ...["wss", "ftp", "blob:https", "blob:blob:https", "BLOB:https", "filesystem:https", "view-source:https"].map((
      scheme
    ) => `${scheme}://advisor.example/proxy/advisor/v2/x`),
    ...["data:text/plain,x", "file:///etc/passwd", "javascript:alert(1)"]
  ])("%j is rejected, because it leaves the origin", (url) => {
    expect(Url.resolveWithin(base, url)).toBeUndefined()
  })

  it.each([
    ...[
      "../x",
      "/../x",
      "..",
      "v2/../../x",
      "%2e%2e/x",
      "/%2E%2E/%2e%2e/x",
      "..\\x",
      "\\..\\..\\x",
      "../advisor-other/x"
    ],
    ...["/v2/x", "//proxy/advisor/v2/x", "/proxy", "/proxy/advisory/x", "/proxy/advisor/../x", "/PROXY/ADVISOR/v2/x"]
      .map((path) => `https://advisor.example${path}`),
    ...["//advisor.example/v2/x", "HTTPS://ADVISOR.EXAMPLE:443/v2/x"]
  ])("%s is rejected, because it is not below the path of the base URL", (url) => {
    expect(Url.resolveWithin(base, url)).toBeUndefined()
  })

  it.prop(
    "no URL leaves the origin",
    [FastCheck.oneof(FastCheck.webUrl(), FastCheck.string({ unit: "binary" }), FastCheck.webPath())],
    ([path]) => {
      expect(Url.resolveWithin(base, path)?.origin ?? base.origin).toBe(base.origin)
    },
    {
      fastCheck: {
        examples: [
          "\t//other.example",
          "/\t/other.example",
          " https://other.example",
          "ht\ntps://other.example",
          "@other"
        ]
          .map((path): [string] => [path])
      }
    }
  )

  it.prop("if the base URL has no path, every accepted URL has its origin", [FastCheck.string()], ([path]) => {
    expect(Url.resolveWithin(bare, path)?.origin ?? bare.origin).toBe(bare.origin)
  }, { fastCheck: { examples: [["@other.example"], [".other.example"], [":8443"], ["\t//other.example"]] } })
})
