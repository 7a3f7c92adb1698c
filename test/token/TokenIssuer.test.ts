import { inspect } from "node:util"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Equal, FastCheck, Option, Redacted, Struct, TestClock } from "effect"
import { type AccessToken, NutritionAdvisorError, TokenIssuer } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { LicenseKey } from "../../src/internal/token/readLicenseKey.js"
import { arranged, test } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import * as Time from "../support/doubles/Time.js"
import { errorStatuses } from "../support/tables/errors.js"

const defaults: TokenIssuer.Options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

const withSimulator = arranged(Simulator.Simulator, Simulator.layerHttpClient())

const issue = (options: Partial<TokenIssuer.Options> = {}) =>
  Effect.flatMap(TokenIssuer.make({ ...defaults, ...options }), (issuer) => issuer.issue(Issuer.missing))

const settle = Time.runToEnd("250 millis")

const fields = {
  access_token: "token-1",
  customer_id: "customer-1",
  expires_in: 3600 as unknown,
  token_type: "Bearer",
  scope: "read:search"
}

/** A token response with other fields; undefined removes one. */
const response = (others: Record<string, unknown> = {}): Record<string, unknown> => ({ ...fields, ...others })

const exchanged = (body: unknown, options?: Partial<TokenIssuer.Options>) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.respondAlways("token", { status: 200, body })
    return yield* issue(options)
  }).pipe(Effect.provide(Simulator.layerHttpClient()))

const lifeOf = (expiresIn: unknown) =>
  Effect.map(exchanged(response({ expires_in: expiresIn })), ({ expiresAt, receivedAt }) => expiresAt - receivedAt)

/** The error names the field that is missing or invalid, and holds nothing else of the response. */
const refused = function*(body: unknown, reason: "Schema" | "NotJson" | "TooLarge", field?: string) {
  const unexpected = { operation: "token", status: 200, reason, ...field !== undefined && { field } } as const
  expect(yield* Effect.flip(exchanged(body))).toEqual(new NutritionAdvisorError.UnexpectedResponse(unexpected))
}

/** Rows of a table, each with its name in a title. */
const named = (values: ReadonlyArray<unknown>) => values.map((value) => [inspect(value), value] as const)

const secretsOf = ({ serviceId, value }: AccessToken.AccessToken) => [Redacted.value(value), Redacted.value(serviceId)]

/** The outcome of an exchange, the number of calls to the service, and the milliseconds that it took. */
const endOf = (
  responses: ReadonlyArray<Simulator.SimulatedResponse>,
  options: Partial<TokenIssuer.Options> = {}
) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.respondNext("token", ...responses)
    const started = yield* Clock.currentTimeMillis
    const outcome = yield* settle(Effect.match(issue(options), {
      onFailure: (error) => error,
      onSuccess: () => "issued" as const
    }))
    const { exchanges } = yield* simulator.counters
    return { outcome, calls: exchanges, millis: (yield* Clock.currentTimeMillis) - started }
  }).pipe(Effect.provide(Simulator.layerHttpClient()))

describe("token response: expires_in", () => {
  test.each([
    [86_155.482, 86_155_482],
    ["3600", 3_600_000],
    ["86155.482", 86_155_482],
    [31_536_000, 31_536_000_000],
    [31_536_001, 31_536_000_000],
    [1e12, 31_536_000_000]
  ])("%j is rounded down to whole milliseconds and capped at a year: %d ms", function*([given, life]) {
    expect(yield* lifeOf(given)).toBe(life)
  })

  const strings = ["", " ", "abc", "0", "0.0009", "-1", "NaN", "Infinity", "1e400", "12 seconds"]

  test.each(named([0, -5, -0.001, 0.0001, null, undefined, ...strings, true, [], [3600], {}, { seconds: 3600 }]))(
    "a value that is not a positive finite number is rejected: %s",
    ([, given]) => refused(response({ expires_in: given }), "Schema", "expires_in")
  )

  test("a number too large for JavaScript is rejected", () =>
    refused(JSON.stringify(response()).replace("3600", "1e400"), "Schema", "expires_in"))

  it.effect.prop(
    "expires_in is never rounded up",
    [FastCheck.integer({ min: 1, max: 31_536_000_000 }), FastCheck.constantFrom(0, 0.25, 0.5, 0.75)],
    ([millis, part]) =>
      Effect.gen(function*() {
        expect(yield* lifeOf((millis + part) / 1000)).toBe(millis)
      }),
    { fastCheck: { examples: [[86_155_482, 0], [1, 0.75], [31_535_999_999, 0.75]] } }
  )

  withSimulator("expires_in counts from when the response was received", function*(simulator) {
    yield* simulator.setLatency("token", "2 seconds")
    yield* TestClock.setTime(1_000_000)
    const token = yield* settle(issue())
    expect(token.receivedAt).toBe(1_002_000)
    expect(token.expiresAt).toBe(1_002_000 + 86_155_482)
  })
})

describe("token response: token_type", () => {
  test.each(named(["Bearer", "bearer", "BEARER", null, undefined]))(
    "a token type is read as Bearer: %s",
    function*([, type]) {
      expect((yield* exchanged(response({ token_type: type }))).tokenType).toBe("Bearer")
    }
  )

  test.each(["mac", "", "Basic", "Bearer ", "Bearer\n", "bearer mac", 1, {}])(
    "a token type other than Bearer is rejected: %j",
    (type) => refused(response({ token_type: type }), "Schema", "token_type")
  )
})

const unsendableTokens = ["", " ", "\t", "a b", "token\n", "a\r\nb", "a\u0000b", "\u007f", "tokén", "🥑", "\ud800"]

test.each(named([...unsendableTokens, null, undefined, 1, {}, ["token"]]))(
  "token response: an access_token that no header can carry is rejected: %s",
  ([, value]) => refused(response({ access_token: value }), "Schema", "access_token")
)

describe("token response: customer_id", () => {
  test.each(named([null, undefined, "", " ", "\t\n"]))(
    "a missing value fails with MissingServiceId: %s",
    function*([, id]) {
      const error = yield* Effect.flip(exchanged(response({ customer_id: id })))
      expect(error).toEqual(new NutritionAdvisorError.MissingServiceId({ operation: "token" }))
    }
  )

  test.each(named([1, {}, [], true, "a\r\nb", "customer\n", "é", "🥑", "\u0000"]))(
    "a value that no header can carry is rejected: %s",
    ([, id]) => refused(response({ customer_id: id }), "Schema", "customer_id")
  )

  test.each(named([undefined, null, "", 1, {}, "a\r\nb", "another"]))(
    "customer_id is ignored if serviceId is set: %s",
    function*([, id]) {
      const token = yield* exchanged(response({ customer_id: id }), { serviceId: "configured" })
      expect(secretsOf(token)).toEqual(["token-1", "configured"])
    }
  )
})

type Token = AccessToken.AccessToken

type TextField = { [Field in keyof Token]-?: Token[Field] extends Option.Option<string> ? Field : never }[keyof Token]

/** The name of each optional string in the response. The compiler demands a row for a new one. */
const responseNames: Readonly<Record<TextField, string>> = { scope: "scope" }

describe.each(Struct.keys(responseNames))("token response: %s", (field) => {
  const name = responseNames[field]

  test.each([
    ["a string is kept", "read:search", Option.some("read:search")],
    ["an empty string is kept", "", Option.some("")],
    ["a missing value is accepted", undefined, Option.none()],
    ["null is accepted", null, Option.none()],
    ["a list is dropped", ["read:search", "read:food"], Option.none()],
    ["a number is dropped", 1, Option.none()],
    ["a record is dropped", { read: ["search"] }, Option.none()]
  ])("%s", function*([, value, expected]) {
    expect((yield* exchanged(response({ [name]: value })))[field]).toEqual(expected)
  })

  test("a string is dropped if it contains the token, the key or the identifier, even encoded", function*() {
    const secrets = [fields.access_token, Redacted.value(Simulator.licenseKey), "id/1", "id%2f1", "ID%2F1"]
    const kept = yield* Effect.forEach(
      secrets,
      (secret) => exchanged(response({ [name]: `read:${secret}`, customer_id: "id/1" }))
    )
    expect(kept.map((token) => token[field])).toEqual(secrets.map(() => Option.none()))
  })

  test("a string is dropped if it contains the identifier that the option serviceId overrides", function*() {
    const repeating = response({ [name]: "read:customer-1", customer_id: "customer-1" })
    const token = yield* exchanged(repeating, { serviceId: Redacted.make("configured") })
    expect(token[field]).toEqual(Option.none())
  })
})

describe("token response", () => {
  const kibibytes = (count: number) => {
    const bare = JSON.stringify(response({ padding: "" })).length
    return JSON.stringify(response({ padding: "x".repeat(count * 1024 - bare) }))
  }

  test.each<readonly [string, unknown]>([
    ["the token and the identifier are read", response()],
    ["unknown fields are ignored", response({ refresh_token: "r", issued: { at: 1 }, __proto__: null })],
    ["a byte order mark is ignored", `\ufeff${JSON.stringify(response())}`],
    ["a response of 64 KiB is accepted", kibibytes(64)]
  ])("%s", function*([, body]) {
    expect(secretsOf(yield* exchanged(body))).toEqual(["token-1", "customer-1"])
  })

  test.each<readonly [string, unknown]>([
    ["empty", ""],
    ["HTML", "<!doctype html><p>Sign in"],
    ["cut off", "{\"access_token\":\"token-1\","],
    ["just the token", "token-1"],
    ["in single quotes", "{'a':1}"],
    ["not UTF-8", new Uint8Array([...new TextEncoder().encode("{\"access_token\":\""), 0xff, 0x22, 0x7d])]
  ])("a response that is %s fails with NotJson", ([, body]) => refused(body, "NotJson"))

  test.each(["null", "[]", "1", "\"token\"", "true", "[{\"access_token\":\"token-1\"}]"])(
    "JSON that is not an object fails with Schema: %s",
    (body) => refused(body, "Schema")
  )

  test.each([
    ["64 KiB and one byte", `${kibibytes(64)} `],
    ["10 MiB (allowed by maxResponseBytes)", kibibytes(10 * 1024)]
  ])("a response of %s fails with TooLarge", ([, body]) => refused(body, "TooLarge"))

  it.effect.prop(
    "any response results in a token or a typed error",
    [FastCheck.oneof(FastCheck.json(), FastCheck.string({ unit: "binary" }))],
    ([body]) =>
      Effect.gen(function*() {
        const outcome = yield* Effect.either(exchanged(body))
        expect(outcome._tag === "Right" || outcome.left._tag === "UnexpectedResponse").toBe(true)
      })
  )

  withSimulator("the response of the simulator has each optional field", function*() {
    const isEmpty = (value: unknown) => Equal.equals(value, Option.none()) || Equal.equals(value, Option.some(""))
    expect(Object.entries(yield* issue()).filter(([, value]) => isEmpty(value))).toEqual([])
  })
})

describe("token exchange: attempts", () => {
  const failed: Simulator.Reply = { status: 500 }

  const busy = (retryAfter: string): Simulator.Reply => ({ status: 503, headers: { "retry-after": retryAfter } })

  const atLeast = (millis: number) => expect.toSatisfy((taken: number) => taken >= millis, `at least ${millis} ms`)

  interface Attempts {
    readonly responses: ReadonlyArray<Simulator.SimulatedResponse>
    readonly options?: Partial<TokenIssuer.Options>
    readonly end: object
  }

  test.each<readonly [string, Attempts]>([
    ["an exchange is retried after a 500, with growing delays", {
      responses: [failed, failed],
      end: { outcome: "issued", calls: 3, millis: atLeast(480) }
    }],
    ["an exchange is retried after a dropped connection", {
      responses: ["drop", "drop"],
      end: { outcome: "issued", calls: 3 }
    }],
    ["an exchange fails with the error of its third attempt", {
      responses: [failed, { status: 502 }, { status: 503 }],
      end: { outcome: { _tag: "ServerError", operation: "token", status: 503 }, calls: 3 }
    }],
    ["refresh.attempts sets the number of attempts", {
      responses: [failed, failed, failed, failed],
      options: { refresh: { attempts: 5 } },
      end: { outcome: "issued", calls: 5 }
    }],
    ["an invalid token response is not retried", {
      responses: [{ status: 200, body: "<html>" }],
      end: { calls: 1 }
    }],
    ["a retry waits for a Retry-After that fits into tokenTimeout", {
      responses: [busy("4")],
      end: { outcome: "issued", millis: atLeast(4_000) }
    }],
    ["an exchange is not retried if Retry-After exceeds tokenTimeout", {
      responses: [busy("20")],
      end: { outcome: { _tag: "ServerError", status: 503, retryAfter: 20 }, calls: 1, millis: 0 }
    }],
    ["there is no third attempt if the second Retry-After exceeds the rest of tokenTimeout", {
      responses: [busy("6"), busy("6")],
      end: { outcome: { _tag: "ServerError", retryAfter: 6 }, calls: 2 }
    }],
    ["all attempts share one tokenTimeout", {
      responses: [failed, "hang"],
      options: { tokenTimeout: "7 seconds" },
      end: { outcome: { _tag: "TransportError", operation: "token", reason: "Timeout" }, millis: 7_000 }
    }]
  ])("%s", function*([, { end, options, responses }]) {
    expect(yield* endOf(responses, options)).toMatchObject(end)
  })

  const lasting = errorStatuses.filter(([status]) => status < 500)

  test.each(lasting)("a status %d is not retried and fails with %s", function*([status, _tag]) {
    expect(yield* endOf([{ status }])).toMatchObject({ calls: 1, outcome: { _tag, operation: "token", status } })
  })

  test.each([401, 403])(
    "the error of a status %d has the response body, redacted",
    function*(status) {
      const body = "unknown: demo-key-7f3a"
      const { outcome } = yield* endOf([{ status, headers: { "content-type": "text/plain" }, body }])
      expect(outcome).toMatchObject({ operation: "token", body: Redacted.make(body) })
      expect(`${JSON.stringify(outcome)} ${inspect(outcome)}`).not.toContain("demo-key-7f3a")
    }
  )
})

describe("license key of an exchange", () => {
  test("a key that an outer issuer has already read is reused", function*() {
    const licenseKey = Effect.fail(new NutritionAdvisorError.LicenseKeyUnavailable({}))
    const end = Effect.provideService(endOf([], { licenseKey }), LicenseKey, Simulator.licenseKey)
    expect((yield* end).calls).toBe(1)
  })

  test("the exchange fails with Timeout if the effect hangs", function*() {
    expect(yield* endOf([], { licenseKey: Effect.never, tokenTimeout: "2 seconds" }))
      .toMatchObject({ calls: 0, outcome: { _tag: "TransportError", reason: "Timeout" } })
  })

  const impossible = ["", " ", ".", "..", "%2e", "undefined", "<your key>", "key\n", "a\r\nb", "a\u200bb", "\ud800"]

  test.each(impossible)(
    "the exchange fails with LicenseKeyUnavailable before anything is sent if the effect returns %j",
    function*(key) {
      const licenseKey = Effect.succeed(Redacted.make(key))
      expect(yield* endOf([], { licenseKey }))
        .toMatchObject({ calls: 0, outcome: { _tag: "LicenseKeyUnavailable", operation: "token" } })
    }
  )
})
