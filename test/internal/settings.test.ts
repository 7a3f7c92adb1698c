import { describe, expect, it } from "@effect/vitest"
import { Either, FastCheck, Option, Redacted } from "effect"
import * as Settings from "../../src/internal/settings.js"
import { ConfigurationError } from "../../src/NutritionAdvisorError.js"

const fieldOf = (checked: Settings.Checked<unknown>) => Either.isLeft(checked) ? checked.left.field : undefined

const ruleOf = (checked: Settings.Checked<unknown>) => Either.isLeft(checked) ? checked.left.rule : undefined

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
    expect(Either.merge(Settings.baseUrl(text))).toEqual({ href, origin: new URL(text).origin, pathname })
  })

  it("reads a URL object like its text", () => {
    expect(Either.merge(Settings.baseUrl(new URL("https://advisor.example/proxy/")))).toEqual(
      Either.merge(Settings.baseUrl("https://advisor.example/proxy"))
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
    expect(fieldOf(Settings.baseUrl(text))).toBe("baseUrl")
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
    expect(fieldOf(Settings.baseUrl(text))).toBe("baseUrl")
  })

  it.each([
    "http://localhost",
    "http://localhost:3000/proxy",
    "http://advisor.localhost",
    "http://127.0.0.1:3000",
    "http://127.9.9.9",
    "http://[::1]:3000"
  ])("accepts plain http to %s, the machine itself", (text) => {
    expect(fieldOf(Settings.baseUrl(text))).toBeUndefined()
  })

  it("accepts plain http to any host where that is allowed", () => {
    expect(fieldOf(Settings.baseUrl("http://advisor.example", true))).toBeUndefined()
  })

  it("refuses other schemes also where plain http is allowed", () => {
    expect(fieldOf(Settings.baseUrl("ftp://advisor.example", true))).toBe("baseUrl")
  })
})

describe("licenseKey", () => {
  it.each([
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
    "[object Object]",
    "[object Promise]",
    "<your key>",
    "<license-key>",
    "{key}",
    "${LICENSE_KEY}",
    "your-license-key",
    "YOUR_API_KEY",
    "YOUR_LICENCE_KEY_HERE",
    "changeme",
    "change-me",
    "key\n",
    "key\r\n",
    " key-1",
    "key-1 ",
    "a\u0000b",
    "a\r\nb",
    "\ud800",
    "key\udc00"
  ])("refuses %j", (key) => {
    expect(fieldOf(Settings.licenseKey(Redacted.make(key)))).toBe("licenseKey")
  })

  it.each([
    "demo-key-7f3a",
    "key",
    "the-key",
    "license-key",
    "my-api-key",
    "NaN",
    "todo",
    "xxxxxxxx",
    "3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00",
    "a/b?c#d%e+f",
    "two words",
    "...",
    "🥑-key",
    "k7".repeat(50_000)
  ])("accepts a key (case %#)", (key) => {
    expect(fieldOf(Settings.licenseKey(Redacted.make(key)))).toBeUndefined()
  })
})

describe("serviceId", () => {
  it("is none where none is given", () => {
    expect(Either.merge(Settings.serviceId(undefined))).toEqual(Option.none())
  })

  it("is redacted from the start", () => {
    expect(Either.merge(Settings.serviceId("customer-1"))).toEqual(Option.some(Redacted.make("customer-1")))
  })

  it.each(["", " ", "a\r\nb", "a\n", " a", "a ", "é", "🥑", "\u0000", "\ud800", "\u007f"])("refuses %j", (id) => {
    expect(fieldOf(Settings.serviceId(id))).toBe("serviceId")
  })
})

describe("serviceIdHeader", () => {
  it("is service-id where no other is given", () => {
    expect(Either.merge(Settings.serviceIdHeader(undefined))).toEqual("service-id")
  })

  it("is kept in lower case", () => {
    expect(Either.merge(Settings.serviceIdHeader("X-Customer"))).toEqual("x-customer")
  })

  it.each(["", " ", "a b", "a:b", "a\r\nb", "é", "a\n", "Service-ID ", "(a)", "\ud800"])("refuses %j", (name) => {
    expect(fieldOf(Settings.serviceIdHeader(name))).toBe("serviceIdHeader")
  })

  it.each([
    "Authorization",
    "Host",
    "Content-Length",
    "content-type",
    "Transfer-Encoding",
    "Cookie",
    "Accept",
    "User-Agent"
  ])(
    "refuses %s, which something else uses",
    (name) => {
      expect(fieldOf(Settings.serviceIdHeader(name))).toBe("serviceIdHeader")
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
    expect(Either.merge(Settings.tokenRoute(route))).toEqual(template)
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
    expect(fieldOf(Settings.tokenRoute(route))).toBe("tokenRoute")
  })
})

describe("rejectedStatuses", () => {
  it("are 401 and 403 where no others are given", () => {
    expect(Either.merge(Settings.rejectedStatuses(undefined))).toEqual(new Set([401, 403]))
  })

  it("may be none", () => {
    expect(Either.merge(Settings.rejectedStatuses([]))).toEqual(new Set())
  })

  it.each([0, 200, 302, 399, 500, 403.5, -403, Number.NaN, Number.POSITIVE_INFINITY])("refuse %d", (status) => {
    expect(fieldOf(Settings.rejectedStatuses([403, status]))).toBe("rejectedStatuses")
  })
})

describe("timeout", () => {
  it.each(["10 seconds", 1, "1 milli", 2 ** 31 - 1] as const)("accepts %s", (duration) => {
    expect(fieldOf(Settings.timeout("requestTimeout", duration))).toBeUndefined()
  })

  it.each([0, -1, "0 seconds", Number.POSITIVE_INFINITY, Number.NaN, 2 ** 31, "25 days"] as const)(
    "refuses %s",
    (duration) => {
      expect(fieldOf(Settings.timeout("tokenTimeout", duration))).toBe("tokenTimeout")
    }
  )
})

describe("maxResponseBytes", () => {
  it("is 16 MiB where no other is given", () => {
    expect(Either.merge(Settings.maxResponseBytes(undefined))).toEqual(16_777_216)
  })

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("refuses %d", (bytes) => {
    expect(fieldOf(Settings.maxResponseBytes(bytes))).toBe("maxResponseBytes")
  })
})

describe("server", () => {
  it("accepts the process that these tests run in", () => {
    expect(fieldOf(Settings.server())).toBeUndefined()
  })

  it("refuses a page of a browser", () => {
    expect(fieldOf(Settings.server({ window: {}, document: {} }))).toBe("environment")
  })

  it("refuses a worker of a browser", () => {
    expect(fieldOf(Settings.server({ WorkerGlobalScope: {}, importScripts: {} }))).toBe("environment")
  })

  it("accepts a server that has one of these globals alone", () => {
    expect(fieldOf(Settings.server({ window: {} }))).toBeUndefined()
  })
})

describe("the rule that a setting broke", () => {
  const unredacted = "demo-key-7f3a" as unknown as Redacted.Redacted<string>

  it.each<readonly [string, Settings.Checked<unknown>]>([
    ["is not Redacted: wrap it in Redacted.make", Settings.licenseKey(unredacted)],
    ["is no text", Settings.licenseKey(Redacted.make(4711) as unknown as Redacted.Redacted<string>)],
    ["is blank", Settings.licenseKey(Redacted.make(" "))],
    ["ends with a line break", Settings.licenseKey(Redacted.make("demo-key-7f3a\r\n"))],
    ["has white space at its beginning or end", Settings.licenseKey(Redacted.make(" demo-key-7f3a"))],
    ["holds a control character", Settings.licenseKey(Redacted.make("demo\u0000key"))],
    ["holds half of a surrogate pair", Settings.licenseKey(Redacted.make("demo\ud800"))],
    ["is a dot segment, which a URL can't carry", Settings.licenseKey(Redacted.make(".%2e"))],
    ["looks like a placeholder", Settings.licenseKey(Redacted.make("${LICENSE_KEY}"))],
    ["ends with a line break", Settings.serviceId("customer-1\n")],
    ["ends with a line break", Settings.userAgent("shop/2\n")],
    ["holds a user name or a password", Settings.baseUrl("https://user@service.example")],
    ["has a query or a fragment", Settings.baseUrl("https://service.example/?a")],
    ["is no absolute address, such as https://service.example", Settings.baseUrl("service.example")],
    ["is the name of a header that something else uses", Settings.serviceIdHeader("Host")],
    [
      "is no duration, such as \"30 seconds\" or a number of milliseconds",
      Settings.timeout("requestTimeout", "soon" as never)
    ],
    ["must be above zero and below 2^31 milliseconds (24.8 days)", Settings.timeout("requestTimeout", 0)],
    ["must be a whole number above 0", Settings.maxResponseBytes(0)],
    ["names a header that carries secrets", Settings.observeHeaders(["Set-Cookie"], "service-id")],
    ["holds what is no header name that HTTP allows", Settings.observeHeaders(["a b"], "service-id")]
  ])("is named: %s", (rule, checked) => {
    expect(ruleOf(checked)).toBe(rule)
  })
})

describe("ConfigurationError", () => {
  it("says the setting, the variable and the rule in one sentence", () => {
    const error = new ConfigurationError({
      field: "licenseKey",
      rule: "is blank",
      variable: "NUTRITION_ADVISOR_LICENSE_KEY"
    })
    expect(error.message).toBe("The setting licenseKey (NUTRITION_ADVISOR_LICENSE_KEY) is blank.")
  })

  const marker = "marker7f3a"

  const refused: Record<string, (text: string) => Settings.Checked<unknown>> = {
    baseUrl: (text: string) => Settings.baseUrl(`http://${marker}/${encodeURIComponent(text)}`),
    licenseKey: (text: string) => Settings.licenseKey(Redacted.make(`${marker}${text}\n`)),
    serviceId: (text: string) => Settings.serviceId(`${marker}${text}\n`),
    serviceIdHeader: (text: string) => Settings.serviceIdHeader(`${marker}${text} `),
    tokenRoute: (text: string) => Settings.tokenRoute(`${marker}${text}`)
  }

  it.each(Object.entries(refused))("never repeats the value of %s", (_, refuse) => {
    FastCheck.assert(FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
      const error = Either.merge(refuse(text))
      if (!(error instanceof ConfigurationError)) throw new Error("the setting was accepted")
      expect(`${error.message} ${JSON.stringify(error)} ${String(error)} ${error.stack}`).not.toContain(marker)
    }))
  })
})
