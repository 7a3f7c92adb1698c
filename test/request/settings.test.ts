import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Either, Redacted } from "effect"
import { NutritionAdvisor, SharedTokenCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Assembly from "../../src/internal/request/assembly.js"
import * as Sharing from "../../src/internal/settings/sharing.js"
import { test } from "../support/doubles/arranged.js"
import { settings as simulated } from "../support/doubles/simulatedAdvisor.js"
import { secretHeaders } from "../support/tables/secretHeaders.js"

type Options = Parameters<typeof Sharing.parseSharedClient>[0]

const validOptions: Options = { baseUrl: "https://advisor.example", licenseKey: Redacted.make("demo-key-7f3a") }

const check = (options: Partial<Options>) => Sharing.parseSharedClient({ ...validOptions, ...options })

const key = (text: string): Partial<Options> => ({ licenseKey: Redacted.make(text) })

const url = (baseUrl: string): Partial<Options> => ({ baseUrl })

/** What people write into examples, and what a platform leaves of a reference: one for each expression of `placeholder.ts`. */
const placeholders = [
  ...["null", "[object Object]", "<your key>", "<key>", "{key}", "${KEY}", "your-license-key", "change-me"],
  ...["demo-••••", "demo-…"],
  "#{LICENSE_KEY}#",
  "<license key>",
  "$NUTRITION_ADVISOR_LICENSE_KEY",
  "$Env:licenseKey",
  "$__file{/run/license-key}",
  "$[variables.licenseKey]",
  "[parameters('licenseKey')]",
  "((nutrition/license-key))",
  "encrypted:BDb7t3QkTRp2WsdU1mQ9abcdef",
  "process.env.LICENSE_KEY",
  "ENV['LICENSE_KEY']",
  "$license_key",
  "$ANSIBLE_VAULT;1.1;AES256",
  "%LICENSE_KEY%",
  "__LICENSE_KEY__",
  "@LICENSE_KEY@",
  "@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/key/)",
  "ENC[AES256_GCM,data:abc,iv:def]",
  "{cipher}682bc583f4641835fa2db009355293665d2647dade3375c0ee201de2a49f7bda",
  "!Ref LicenseKey",
  "op://shop/nutrition/license-key",
  "secretref:license-key",
  "awssm:nutrition/license-key",
  "key@azurekeyvault",
  "projects/1/secrets/nutrition/versions/latest",
  "/run/secrets/license-key"
]

/** A field, a rule, and options that break it. */
type Refusal = readonly [field: string, rule: RegExp, all: ReadonlyArray<Partial<Options>>]

/** Shows options in a title, even the license key. */
const shown = (options: Partial<Options>) =>
  Object.entries(options)
    .map(([name, value]) => `${name}: ${inspect(Redacted.isRedacted(value) ? Redacted.value(value) : value)}`)
    .join(", ")

/** Each value breaks the rule by itself, and the others together with a second option. */
const refused = <Field extends keyof Options>(
  field: Field,
  rule: RegExp,
  values: ReadonlyArray<Options[Field]>,
  ...others: ReadonlyArray<Partial<Options>>
): Refusal => [field, rule, [...values.map((value) => ({ [field]: value })), ...others]]

const refusedKeys = (rule: RegExp, ...keys: ReadonlyArray<string>) =>
  refused("licenseKey", rule, keys.map((key) => Redacted.make(key)))

const insecure = [
  "ftp://a",
  "http://a",
  "http://localhost.a",
  "http://notlocalhost",
  "http://127.0.0.1.a",
  "http://[::2]"
]

/** One row for each rule of a field. */
const refusals: ReadonlyArray<Refusal> = [
  refused("baseUrl", /absolute URL/, [
    "",
    "a.example",
    "//a.example",
    "https://a .example"
  ]),
  refused("baseUrl", /invisible character/, ["https://a.example/x\u200by"]),
  refused("baseUrl", /https/, insecure, { ...url("http://a"), allowInsecureHttp: "false" as never }),
  refused("baseUrl", /white space/, [" https://a.example", "https://a.example\n"]),
  refused("baseUrl", /typographic/, ["“https://a.example”"]),
  refused("baseUrl", /is quoted/, ["\"https://a.example\"", "'https://a.example'"]),
  refused("baseUrl", /user name/, ["https://user@a.example", "https://user:word@a.example"]),
  refused("baseUrl", /query/, ["https://a.example?a=1", "https://a.example/#part"]),
  refused("baseUrl", /is blank/, ["", " ", "\n"]),
  refused("baseUrl", /is not set/, [undefined as never, "undefined"]),
  refused("baseUrl", /placeholder/, ["${URL}", "https://${HOST}/v2", "{{ .url }}", "$(BASE_URL)", "https://#{HOST}#"]),
  refusedKeys(/is JSON/, "{\"license-key\":\"k\"}", "{ \"key\": 1 }"),
  refusedKeys(/comment/, "demo-key # mine", "demo-key #", "\"demo-key\""),
  refusedKeys(/blank/, "", " ", "\t"),
  refusedKeys(/typographic quotation mark/, "“key-1”", "key-1’", "«key-1»", "„key-1"),
  refusedKeys(/white space/, " key-1", "key-1 ", "key\n", "\u200bkey-1"),
  refusedKeys(/a URL path segment/, "a\u0000b", "a\r\nb", "\ud800", "key\udc00", ".", "..", "%2e", ".%2e"),
  // A zero-width space, a soft hyphen, a word joiner, a no-break space, a line separator
  refusedKeys(
    /invisible character/,
    ...["\u200b", "\u00ad", "\u2060", "\u00a0", "\u2028"].map((character) => `a${character}b`)
  ),
  // @ts-expect-error A license key is Redacted, so that no log can show it.
  refused("licenseKey", /must be a Redacted/, ["demo-key"]),
  refused("licenseKey", /is not set/, [undefined, Redacted.make(undefined), Redacted.make("undefined")] as never),
  refusedKeys(/placeholder/, ...placeholders),
  refused(
    "serviceId",
    /placeholder/,
    ["${ID}", "<id>", "op://shop/nutrition/id", "$(ID)", "undefined"],
    ...[undefined, null].map((none) => ({ serviceId: Redacted.make(none) as never }))
  ),
  refused("serviceId", /quoted/, ["\"c-1\"", "'c-1'", "c-1 # shop"]),
  refused("serviceId", /ASCII/, ["", "a\r\nb", "é"]),
  refused("userAgent", /ASCII/, ["", " ", "shop\r\nx: y", "shop/2\n", "shöp", "shop\u0000"]),
  refused("serviceIdHeader", /header name/, ["", "a b", "é"]),
  refused("serviceIdHeader", /secrets/, secretHeaders),
  refused("observeHeaders", /secrets/, [...secretHeaders, "Service-ID"].map((name) => ["x-request-id", name]), {
    observeHeaders: ["x-customer"],
    serviceIdHeader: "X-Customer"
  }),
  refused("observeHeaders", /header name/, [["a b"], [""]]),
  refused(
    "tokenRoute",
    /\{key\}/,
    ["/v2/../{key}", "//a.example/{key}", "/v2/own?key={key}", "/a b/{key}", "toString" as never],
    // @ts-expect-error The path of a token route ends with {key}.
    { tokenRoute: "/v2/own" }
  ),
  refused("rejectedStatuses", /400 to 499/, [200, 399, 500, 403.5, Number.NaN].map((status) => [status])),
  refused("tokenTimeout", /duration/, [0, -1, Infinity, Number.NaN, 2 ** 31]),
  refused("requestTimeout", /duration.* such as "10 seconds"/, ["25 days"]),
  refused("maxResponseBytes", /whole number/, [0, -1, 0.5, Number.NaN]),
  ["lease", /at least tokenTimeout \+ 2 x cacheTimeout/, [
    { lease: 11_999 },
    { tokenTimeout: 13_001 },
    { cacheTimeout: 2_501 },
    { lease: 1_000, tokenTimeout: 900, cacheTimeout: 51 }
  ]],
  refused("cacheTimeout", /duration/, [0])
]

describe("rejected setting", () => {
  it.each(
    refusals.flatMap(([field, rule, all]) => all.map((options) => [field, rule, shown(options), options] as const))
  )(
    "the error names %s and the rule %s: %s",
    (field, rule, _, options) => {
      const error = Either.getOrThrow(Either.flip(check(options)))
      expect(error).toMatchObject({ field, rule: expect.stringMatching(rule) })
      expect(error.message).toMatch(new RegExp(`^The setting ${field} `))
    }
  )

  it("these tests cover each option that has a rule", () => {
    const refused = new Set(refusals.map(([field]) => field))
    const withRule = Object.keys(Sharing.sharedClientDeclarations).filter((option) =>
      !["allowInsecureHttp", "refresh"].includes(option)
    )
    expect(withRule.filter((option) => !refused.has(option))).toEqual([])
  })

  it("the error does not contain its value", () => {
    const keys = ["marker7f3a\n", "\u200bmarker7f3a", "\"marker7f3a\"", "marker7f3a••••", "marker7f3a…"].map(key)
    for (const options of [url("http://marker7f3a.example"), { serviceId: "marker7f3a\n" }, ...keys]) {
      const error = Either.getOrThrow(Either.flip(check(options)))
      const printed = inspect(error, { depth: 9, showHidden: true })
      expect(`${error} ${JSON.stringify(error)} ${error.stack} ${printed}`).not.toContain("marker7f3a")
    }
  })
})

const lookalikes = [
  "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
  "{6F9619FF-8B86-D011-B42D-00CF4FC964FF}",
  "secrets.2024",
  "acme:7f3a91c0",
  "eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG_HACGpVUMN_a9IV7pAx_Zmeo",
  "c2VjcmV0L2tleQ==",
  "/9j+secret/key==",
  "sk_live_51H8",
  "nutri:2024:ab12",
  "a$b%c@d#e!f",
  "key@shop.example",
  "environment-key",
  "vaulted-key",
  "$2b$12$abcdefghijklmnopqrstuv",
  "$aK7-x9Q",
  "50%off",
  "TEST_LICENSE_KEY",
  "a_b__c"
]

describe("accepted setting", () => {
  const accepted: ReadonlyArray<readonly [what: string, all: ReadonlyArray<Partial<Options>>]> = [
    ["http to this machine", ["http://localhost:3000", "http://127.9.9.9", "http://[::1]"].map(url)],
    ["http to another host with allowInsecureHttp", [{ ...url("http://a.example"), allowInsecureHttp: true }]],
    ["a value that resembles a placeholder", lookalikes.map(key)],
    [
      "a valid header name",
      ["X-Customer-Id", "Service-ID", "!#$%&'*+-.^_`|~9"].map((serviceIdHeader) => ({ serviceIdHeader }))
    ],
    ["any characters", ["a/b?c#d%e+f", "two words", "...", "🥑-key", "my-api-key"].map(key)],
    ["up to the limit of a Node timer", [{ requestTimeout: 1 }, { requestTimeout: 2 ** 31 - 1 }]],
    ["an empty array", [{ rejectedStatuses: [] }]]
  ]

  it.each(accepted.flatMap(([what, all]) => all.map((options) => [what, shown(options), options] as const)))(
    "%s: %s",
    (_, __, options) => {
      expect(check(options)).toMatchObject({ _tag: "Right" })
    }
  )

  it.each([
    ["https://advisor.example//", "https://advisor.example", ""],
    ["https://advisor.example/proxy/", "https://advisor.example", "/proxy"],
    ["HTTPS://ADVISOR.EXAMPLE:443", "https://advisor.example", ""]
  ])("baseUrl: %s", (text, origin, pathname) => {
    expect(Either.getOrThrow(check(url(text))).baseUrl).toMatchObject({ origin, pathname })
  })
})

it.each(
  [["rejectedStatuses", 403], ["observeHeaders", "x-request-id"]] as const
)("settings: for %s, one value means the same as an array of it", (option, value) => {
  const untyped: object = { [option]: value }
  expect(check(untyped)).toEqual(check({ [option]: [value] }))
})

/** An object that adds the name of each property that is read to a set. */
const watched = <A extends object>(object: A, read: Set<PropertyKey>): A =>
  new Proxy(object, {
    get: (target, name, receiver) => {
      read.add(name)
      return Reflect.get(target, name, receiver)
    }
  })

test("settings: a client that shares its token has read each one after a search", function*() {
  const read = new Set<PropertyKey>()
  const settings = watched(Either.getOrThrow(Sharing.parseSharedClient(simulated)), read)
  const services = yield* Assembly.fromSharedSettings(settings).pipe(
    Effect.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
  )
  yield* Context.get(services, NutritionAdvisor.NutritionAdvisor).search("oats")
  // This one is only used to check the base URL.
  expect(Object.keys(settings).filter((name) => !read.has(name))).toEqual(["allowInsecureHttp"])
})
