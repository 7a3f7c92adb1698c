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

const hostile = [".", "..", "%2e", "?&#+%/", "a\r\nb", "🥑", "a b", "+", "x".repeat(100_000), ""]

it.each([
  ["https://nutrition.example", "nutrition.example", 443],
  ["http://nutrition.example", "nutrition.example", 80],
  ["https://[::1]:8443", "::1", 8443]
])("%s is at address %s and port %i", (origin, address, port) => {
  expect(Url.serverAttributes({ href: origin, origin, pathname: "" }))
    .toEqual({ "server.address": address, "server.port": port })
})

describe("isWellFormed", () => {
  it.prop("agrees with what encodeURIComponent can encode", [FastCheck.string16bits()], ([text]) => {
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
  it.prop("one decoding restores the string", [wellFormed], ([text]) => {
    expect(decodeURIComponent(Url.encode(text))).toBe(text)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })

  it.prop("the result has only unreserved characters and escapes", [wellFormed], ([text]) => {
    expect(Url.encode(text)).toMatch(/^([\w.~-]|%[\dA-F]{2})*$/)
  }, { fastCheck: { examples: hostile.map((text): [string] => [text]) } })

  it("every reserved character of RFC 3986 is escaped", () => {
    expect(Url.encode(":/?#[]@!$&'()*+,;=")).toBe("%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")
  })

  it.prop("URL parsers keep an encoded path segment whole", [wellFormed], ([text]) => {
    FastCheck.pre(!Url.isDotSegment(Url.encode(text)))
    const encoded = Url.encode(text)
    expect(new URL(`https://advisor.example/a/${encoded}`).href).toBe(`https://advisor.example/a/${encoded}`)
  }, { fastCheck: { examples: [["%2e"], ["..."], ["/.."], ["?&#+%/"], ["a\r\nb"], ["\\"], ["🥑"]] } })
})

describe("URL query", () => {
  it.prop("parsing it gives the same pairs", [FastCheck.array(FastCheck.tuple(wellFormed, wellFormed))], ([pairs]) => {
    FastCheck.pre(pairs.every(([name, value]) => name !== "" || value !== ""))
    expect([...new URLSearchParams(Url.query(pairs))]).toEqual(pairs)
  }, { fastCheck: { examples: [[[["a", "1"], ["a", "2"]]], [[["&=", "+ %2B"]]], [[["term", "?&#+%/"]]]] } })

  it("no pairs give an empty query", () => {
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
  ])("takes %s for %s", (path, expected) => {
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
  ])("refuses %j, which leaves the origin", (url) => {
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
      .map(
        (path) => `https://advisor.example${path}`
      ),
    ...["//advisor.example/v2/x", "HTTPS://ADVISOR.EXAMPLE:443/v2/x"]
  ])("refuses %s, which is at the origin and not below the prefix", (url) => {
    expect(Url.resolveWithin(base, url)).toBeUndefined()
  })

  it.prop(
    "never gives a URL of another origin",
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

  it.prop("never gives a URL of another origin where the base has no prefix", [FastCheck.string()], ([path]) => {
    expect(Url.resolveWithin(bare, path)?.origin ?? bare.origin).toBe(bare.origin)
  }, { fastCheck: { examples: [["@other.example"], [".other.example"], [":8443"], ["\t//other.example"]] } })
})
