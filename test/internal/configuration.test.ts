import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck, Option, Redacted } from "effect"
import * as Configuration from "../../src/internal/configuration.js"
import type { ConfigurationError } from "../../src/NutritionAdvisorError.js"

const fieldOf = (
  result: ReturnType<typeof Configuration.baseUrl> | Either.Either<unknown, { readonly field: string }>
) => Either.match(result, { onLeft: ({ field }) => field, onRight: () => undefined })

describe("baseUrl", () => {
  it.each([
    ["https://advisor.example", "https://advisor.example", ""],
    ["https://advisor.example/", "https://advisor.example", ""],
    ["https://advisor.example//", "https://advisor.example", ""],
    ["https://advisor.example/proxy", "https://advisor.example/proxy", "/proxy"],
    ["https://advisor.example/proxy/deep/", "https://advisor.example/proxy/deep", "/proxy/deep"],
    ["https://advisor.example:8443/proxy", "https://advisor.example:8443/proxy", "/proxy"],
    ["HTTPS://ADVISOR.EXAMPLE:443", "https://advisor.example", ""]
  ])("reads %s", (text, href, pathname) => {
    expect(Configuration.baseUrl(text)).toEqual(Either.right({ href, origin: new URL(text).origin, pathname }))
  })

  it("reads a URL object like its text", () => {
    expect(Configuration.baseUrl(new URL("https://advisor.example/proxy/"))).toEqual(
      Configuration.baseUrl("https://advisor.example/proxy")
    )
  })

  it.each([
    "",
    " ",
    "undefined",
    "advisor.example",
    "//advisor.example",
    "/v2",
    "https://",
    "ftp://advisor.example",
    "file:///etc",
    "data:text/plain,x",
    "https://advisor.example?",
    "https://advisor.example?a=1",
    "https://advisor.example#",
    "https://advisor.example/#part",
    "https://user@advisor.example",
    "https://user:word@advisor.example",
    "https://:word@advisor.example",
    " https://advisor.example",
    "https://advisor.example\n",
    "https://advisor.example/\r\nx",
    "https://advisor.example/a b",
    "https://advisor.example/\u0000",
    "https://advisor.example/\ud800",
    "https://advisor.example:99999"
  ])("refuses %j", (text) => {
    expect(fieldOf(Configuration.baseUrl(text))).toBe("baseUrl")
  })

  it.each([
    "http://advisor.example",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://10.0.0.1",
    "http://0.0.0.0",
    "http://[::2]",
    "http://notlocalhost"
  ])("refuses plain http to %s", (text) => {
    expect(fieldOf(Configuration.baseUrl(text))).toBe("baseUrl")
  })

  it.each([
    "http://localhost",
    "http://localhost:3000/proxy",
    "http://advisor.localhost",
    "http://127.0.0.1:3000",
    "http://127.9.9.9",
    "http://[::1]:3000"
  ])("accepts plain http to %s, the machine itself", (text) => {
    expect(Either.isRight(Configuration.baseUrl(text))).toBe(true)
  })

  it("accepts plain http to any host where that is allowed", () => {
    expect(Either.isRight(Configuration.baseUrl("http://advisor.example", true))).toBe(true)
  })

  it("refuses other schemes also where plain http is allowed", () => {
    expect(fieldOf(Configuration.baseUrl("ftp://advisor.example", true))).toBe("baseUrl")
  })
})

describe("licenseKey", () => {
  const unusable = [
    "",
    " ",
    "\t",
    ".",
    "..",
    "%2e",
    "%2E%2e",
    ".%2e",
    "undefined",
    "null",
    "NaN",
    "[object Object]",
    "[object Promise]",
    "<your key>",
    "<license-key>",
    "{key}",
    "${LICENSE_KEY}",
    "$LICENSE_KEY",
    "your-license-key",
    "YOUR_API_KEY",
    "YOUR_LICENCE_KEY_HERE",
    "changeme",
    "xxxxxxxx",
    "********",
    "key\n",
    "key\r\n",
    " key-1",
    "key-1 ",
    "a\u0000b",
    "a\r\nb",
    "\ud800",
    "key\udc00"
  ]

  it.each(unusable)("refuses %j", (key) => {
    expect(fieldOf(Configuration.licenseKey(Redacted.make(key)))).toBe("licenseKey")
  })

  it.each([
    "demo-key-7f3a",
    "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00",
    "a/b?c#d%e+f",
    "two words",
    "...",
    "🥑-key",
    "k7".repeat(50_000)
  ])("accepts a key (case %#)", (key) => {
    expect(Either.isRight(Configuration.licenseKey(Redacted.make(key)))).toBe(true)
  })

  it.each(unusable.filter((key) => key.trim().length > 2))("does not repeat %j in its error", (key) => {
    const error = Either.flip(Configuration.licenseKey(Redacted.make(`marker-${key}\n`)))
    expect(Either.map(error, ({ message }) => message.includes("marker-"))).toEqual(Either.right(false))
  })
})

describe("serviceId", () => {
  it("is none where none is given", () => {
    expect(Configuration.serviceId(undefined)).toEqual(Either.right(Option.none()))
  })

  it("is redacted from the start", () => {
    expect(Either.map(Configuration.serviceId("customer-1"), Option.map(Redacted.value)))
      .toEqual(Either.right(Option.some("customer-1")))
  })

  it.each(["", " ", "a\r\nb", "a\n", " a", "a ", "é", "🥑", "\u0000", "\ud800", "\u007f"])("refuses %j", (id) => {
    expect(fieldOf(Configuration.serviceId(id))).toBe("serviceId")
  })
})

describe("serviceIdHeader", () => {
  it("is service-id where no other is given", () => {
    expect(Configuration.serviceIdHeader(undefined)).toEqual(Either.right("service-id"))
  })

  it("is kept in lower case", () => {
    expect(Configuration.serviceIdHeader("X-Customer")).toEqual(Either.right("x-customer"))
  })

  it.each(["", " ", "a b", "a:b", "a\r\nb", "é", "a\n", "Service-ID ", "(a)", "\ud800"])("refuses %j", (name) => {
    expect(fieldOf(Configuration.serviceIdHeader(name))).toBe("serviceIdHeader")
  })

  it.each(["Authorization", "Host", "Content-Length", "content-type", "Transfer-Encoding", "Cookie", "Accept"])(
    "refuses %s, which something else uses",
    (name) => {
      expect(fieldOf(Configuration.serviceIdHeader(name))).toBe("serviceIdHeader")
    }
  )
})

describe("tokenRoute", () => {
  it.each([
    [undefined, "/v2/token-cache/nutrition-advisor/oauth/licence/{key}"],
    ["advisor-licence", "/v2/token-cache/nutrition-advisor/oauth/licence/{key}"],
    ["advisor-token", "/v2/token-cache/nutrition-advisor/oauth/token/{key}"],
    ["unified", "/v2/token-cache/unified/oauth/token/{key}"],
    ["/v2/own/{key}", "/v2/own/{key}"],
    ["/{key}", "/{key}"]
  ])("takes %s for %s", (route, template) => {
    expect(Configuration.tokenRoute(route)).toEqual(Either.right(template))
  })

  it.each([
    "",
    "/",
    "{key}",
    "v2/own/{key}",
    "/v2/own",
    "/v2/own/",
    "/v2/{key}/own",
    "/v2/own/{key}/",
    "/v2/own/x{key}",
    "/v2/own?key={key}",
    "/v2/own#/{key}",
    "/v2/../{key}",
    "/./{key}",
    "/%2e%2e/{key}",
    "//other.example/{key}",
    "/a//{key}",
    "/a b/{key}",
    "/a\r\nb/{key}",
    "/{key}/{key}",
    "\\\\other.example/{key}",
    "https://other.example/{key}",
    "toString",
    "constructor",
    "__proto__"
  ])("refuses %j", (route) => {
    expect(fieldOf(Configuration.tokenRoute(route))).toBe("tokenRoute")
  })
})

describe("rejectedStatuses", () => {
  it("are 401 and 403 where no others are given", () => {
    expect(Either.map(Configuration.rejectedStatuses(undefined), (statuses) => [...statuses])).toEqual(
      Either.right([401, 403])
    )
  })

  it("may be none", () => {
    expect(Either.map(Configuration.rejectedStatuses([]), ({ size }) => size)).toEqual(Either.right(0))
  })

  it.each([0, 200, 302, 399, 500, 403.5, -403, Number.NaN, Number.POSITIVE_INFINITY])("refuse %d", (status) => {
    expect(fieldOf(Configuration.rejectedStatuses([403, status]))).toBe("rejectedStatuses")
  })
})

describe("timeout", () => {
  it.each(["10 seconds", 1, "1 milli", 2 ** 31 - 1] as const)("accepts %s", (duration) => {
    expect(Either.isRight(Configuration.timeout("requestTimeout", duration))).toBe(true)
  })

  it.each([0, -1, "0 seconds", Number.POSITIVE_INFINITY, Number.NaN, 2 ** 31, "25 days"] as const)(
    "refuses %s",
    (duration) => {
      expect(fieldOf(Configuration.timeout("tokenTimeout", duration))).toBe("tokenTimeout")
    }
  )

  it("names the setting it was asked about", () => {
    expect(fieldOf(Configuration.timeout("requestTimeout", 0))).toBe("requestTimeout")
  })
})

describe("maxResponseBytes", () => {
  it("is 16 MiB where no other is given", () => {
    expect(Configuration.maxResponseBytes(undefined)).toEqual(Either.right(16_777_216))
  })

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses %d", (bytes) => {
    expect(fieldOf(Configuration.maxResponseBytes(bytes))).toBe("maxResponseBytes")
  })
})

describe("server", () => {
  it("accepts the process that these tests run in", () => {
    expect(Either.isRight(Configuration.server())).toBe(true)
  })

  it("refuses a page of a browser", () => {
    expect(fieldOf(Configuration.server({ window: {}, document: {} }))).toBe("environment")
  })

  it("refuses a worker of a browser", () => {
    expect(fieldOf(Configuration.server({ WorkerGlobalScope: {}, importScripts: {} }))).toBe("environment")
  })

  it("accepts a server that has one of these globals alone", () => {
    expect(Either.isRight(Configuration.server({ window: {} }))).toBe(true)
  })
})

describe("ConfigurationError", () => {
  const marker = "marker7f3a"

  const refused: Record<string, (text: string) => Either.Either<unknown, ConfigurationError>> = {
    baseUrl: (text: string) => Configuration.baseUrl(`http://${marker}/${encodeURIComponent(text)}`),
    licenseKey: (text: string) => Configuration.licenseKey(Redacted.make(`${marker}${text}\n`)),
    serviceId: (text: string) => Configuration.serviceId(`${marker}${text}\n`),
    serviceIdHeader: (text: string) => Configuration.serviceIdHeader(`${marker}${text} `),
    tokenRoute: (text: string) => Configuration.tokenRoute(`${marker}${text}`)
  }

  it.each(Object.entries(refused))("never repeats the value of %s", (_, refuse) => {
    FastCheck.assert(FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
      const error = Either.getOrThrow(Either.flip(refuse(text)))
      expect(`${error.message} ${JSON.stringify(error)} ${String(error)} ${error.stack}`).not.toContain(marker)
    }))
  })
})
