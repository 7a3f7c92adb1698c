import { describe, expect, it } from "@effect/vitest"
import { Duration, Either, FastCheck, Option, Redacted } from "effect"
import * as Settings from "../../src/internal/settings.js"
import { ConfigurationError } from "../../src/NutritionAdvisorError.js"

const keyOf = (text: unknown) => Settings.licenseKey(Redacted.make(text) as Redacted.Redacted<string>)

const urlOf = (text: string) => Settings.baseUrl(text)

/** What a check makes of values, by the rule that they break. */
const broken = <A>(
  field: string,
  check: (value: A) => Settings.Checked<unknown>,
  rules: Readonly<Record<string, ReadonlyArray<A>>>
) => Object.entries(rules).map(([rule, values]) => [field, rule, values.map((value) => check(value))] as const)

const otherMachines = ["a.example", "localhost.example", "127.0.0.1.example", "10.0.0.1", "[::2]", "notlocalhost"]

const takenHeaders = [
  "Authorization",
  "Host",
  "Content-Length",
  "content-type",
  "Transfer-Encoding",
  "Cookie",
  "Accept"
]

const browsers = [{ window: {}, document: {} }, { WorkerGlobalScope: {}, importScripts: {} }]

const refusals = [
  ...broken("baseUrl", urlOf, {
    "holds white space, a control character or half of a surrogate pair": [
      " https://a.example",
      ...["\n", "/a b", "/\u0000", "/\r\nx", "/\ud800"].map((end) => `https://a.example${end}`)
    ],
    "is no absolute address, such as https://service.example": ["", "a.example", "//a.example", "/v2", "https://"],
    "must begin with https:// (http only to this machine itself, or with allowInsecureHttp)": [
      ...["ftp://a.example", "file:///etc", "data:text/plain,x"],
      ...otherMachines.map((host) => `http://${host}`)
    ],
    "holds a user name or a password": ["user@", "user:word@", ":word@"].map((user) => `https://${user}a.example`),
    "has a query or a fragment": ["?", "?a=1", "#", "/#part"].map((end) => `https://a.example${end}`)
  }),
  ...broken("baseUrl", (text: string) => Settings.baseUrl(text, true), {
    "must begin with https:// (http only to this machine itself, or with allowInsecureHttp)": ["ftp://a.example"]
  }),
  ...broken("licenseKey", (text: unknown) => Settings.licenseKey(text as Redacted.Redacted<string>), {
    "is not Redacted: wrap it in Redacted.make": ["demo-key-7f3a"]
  }),
  ...broken<unknown>("licenseKey", keyOf, {
    "is no text": [4711],
    "is blank": ["", " ", "\t"],
    "ends with a line break": ["key\n", "key\r\n"],
    "has white space at its beginning or end": [" key-1", "key-1 "],
    "holds a control character": ["a\u0000b", "a\r\nb"],
    "holds half of a surrogate pair": ["\ud800", "key\udc00"],
    "is a dot segment, which a URL can't carry": [".", "..", "%2e", "%2E%2e", ".%2e"],
    "looks like a placeholder": [
      ...["undefined", "null", "[object Object]", "[object Promise]", "<your key>", "<license-key>", "{key}", "${KEY}"],
      ...["your-license-key", "YOUR_API_KEY", "YOUR_LICENCE_KEY_HERE", "changeme", "change-me"]
    ]
  }),
  ...broken<string>("serviceId", Settings.serviceId, {
    "is blank": ["", " "],
    "ends with a line break": ["a\n"],
    "has white space at its beginning or end": [" a", "a "],
    "holds characters that are not visible ASCII, which no header can carry": ["a\r\nb", "é", "\u0000", "\u007f"]
  }),
  ...broken("userAgent", Settings.userAgent, { "ends with a line break": ["shop/2\n"] }),
  ...broken("serviceIdHeader", Settings.serviceIdHeader, {
    "is no header name that HTTP allows": ["", "a b", "a:b", "a\r\nb", "é", "a\n", "Service-ID ", "(a)", "\ud800"],
    "is the name of a header that something else uses": [...takenHeaders, "User-Agent"]
  }),
  ...broken("observeHeaders", (name: string) => Settings.observeHeaders([name], "service-id"), {
    "names a header that carries secrets": ["Set-Cookie"],
    "holds what is no header name that HTTP allows": ["a b"]
  }),
  ...broken("tokenRoute", Settings.tokenRoute, {
    "must be advisor-licence, advisor-token, unified, or a path that starts with / and ends with /{key}": [
      ...["", "/", "{key}", "v2/own/{key}", "/v2/own", "/v2/own/", "/v2/{key}/own", "/v2/own/{key}/", "/v2/own/x{key}"],
      ...["/v2/own?key={key}", "\\\\a.example/{key}", "https://a.example/{key}"],
      ...["toString", "constructor", "__proto__"]
    ],
    "has an empty segment, a dot segment, or a segment with characters that a path can't have": [
      ...["/v2/own#/{key}", "/v2/../{key}", "/./{key}", "/%2e%2e/{key}", "//a.example/{key}", "/a//{key}"],
      ...["/a b/{key}", "/a\r\nb/{key}", "/{key}/{key}"]
    ]
  }),
  ...broken("rejectedStatuses", (status: number) => Settings.rejectedStatuses([403, status]), {
    "must be an array of whole numbers from 400 to 499": [0, 200, 302, 399, 500, 403.5, -403, NaN, Infinity]
  }),
  ...broken("tokenTimeout", (value: unknown) => Settings.timeout("tokenTimeout", value as Duration.DurationInput), {
    "is no duration, such as \"30 seconds\" or a number of milliseconds": ["soon", [1], [1, "2"]],
    "must be above zero and below 2^31 milliseconds (24.8 days)": [
      ...[0, -1, Infinity, NaN, 2 ** 31, "25 days", "-1 second", -1n],
      ...[[0, 0], [-1, 0], [-1, 2e9], [1, -1], [NaN, 0], [0, NaN], [Infinity, 0]]
    ]
  }),
  ...broken("maxResponseBytes", Settings.maxResponseBytes, {
    "must be a whole number above 0": [0, -1, 0.5, NaN, Infinity, 2 ** 53]
  }),
  ...broken("environment", Settings.server, {
    "must be a server: in a browser the license key would be visible to everyone": browsers
  })
]

describe("a setting is refused by its name and the rule that it broke", () => {
  it.each(refusals)("%s %s", (field, rule, all) => {
    expect(all.map(Either.merge)).toEqual(all.map(() => expect.objectContaining({ field, rule })))
  })
})

describe("a setting is taken", () => {
  it.each<readonly [string, ReadonlyArray<Settings.Checked<unknown>>]>([
    [
      "baseUrl, as plain http to the machine itself",
      ["localhost", "localhost:3000/proxy", "advisor.localhost", "127.0.0.1:3000", "127.9.9.9", "[::1]:3000"].map(
        (host) => urlOf(`http://${host}`)
      )
    ],
    ["baseUrl, as plain http to any host where that is allowed", [Settings.baseUrl("http://a.example", true)]],
    [
      "licenseKey, as a word that is no placeholder",
      ["demo-key-7f3a", "key", "the-key", "license-key", "my-api-key", "NaN", "todo", "xxxxxxxx"].map(keyOf)
    ],
    [
      "licenseKey, of any characters",
      ["3f2b8c1e-5a47-4d0e-9b6c-2d1f", "a/b?c#d%e+f", "two words", "...", "🥑-key", "k7".repeat(50_000)].map(keyOf)
    ],
    [
      "requestTimeout",
      (["10 seconds", 1, "1 milli", 2 ** 31 - 1, [1, 0], [0, 1], 1n, Duration.millis(1)] as const).map((value) =>
        Settings.timeout("requestTimeout", value)
      )
    ],
    ["the process that these tests run in", [Settings.server()]],
    [
      "a server that has one of a browser's globals alone",
      [{ window: {} }, { document: {} }, { WorkerGlobalScope: {} }, { importScripts: {} }].map((one) =>
        Settings.server(one)
      )
    ]
  ])("%s", (_, all) => {
    expect(all.filter(Either.isLeft)).toEqual([])
  })
})

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
})

describe("a setting that is left out", () => {
  it.each<readonly [string, Settings.Checked<unknown>, unknown]>([
    ["serviceId is none", Settings.serviceId(undefined), Option.none()],
    ["serviceIdHeader is service-id", Settings.serviceIdHeader(undefined), "service-id"],
    ["rejectedStatuses are 401 and 403", Settings.rejectedStatuses(undefined), new Set([401, 403])],
    ["maxResponseBytes is 16 MiB", Settings.maxResponseBytes(undefined), 16_777_216]
  ])("%s", (_, checked, expected) => {
    expect(Either.merge(checked)).toEqual(expected)
  })
})

describe("serviceId", () => {
  it("is redacted from the start", () => {
    expect(Either.merge(Settings.serviceId("customer-1"))).toEqual(Option.some(Redacted.make("customer-1")))
  })
})

describe("serviceIdHeader", () => {
  it("is kept in lower case", () => {
    expect(Either.merge(Settings.serviceIdHeader("X-Customer"))).toEqual("x-customer")
  })
})

describe("rejectedStatuses", () => {
  it("may be none", () => {
    expect(Either.merge(Settings.rejectedStatuses([]))).toEqual(new Set())
  })
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
