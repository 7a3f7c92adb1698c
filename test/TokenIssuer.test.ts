import { inspect } from "node:util"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Option, Redacted, Ref } from "effect"
import { NutritionAdvisorError, TokenIssuer } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import * as Issuer from "./doubles/IssuerDouble.js"
import * as Time from "./doubles/Time.js"

const defaults: TokenIssuer.Options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }

const issue = (options: Partial<TokenIssuer.Options> = {}) =>
  Effect.flatMap(TokenIssuer.make({ ...defaults, ...options }), (issuer) => issuer.issue(Issuer.missing))

const settle = Time.settle("250 millis")

const response = (fields: Record<string, unknown> = {}) => ({
  access_token: "token-1",
  customer_id: "customer-1",
  expires_in: 3600,
  token_type: "Bearer",
  scope: "read:search",
  ...fields
})

const without = (field: string) => Object.fromEntries(Object.entries(response()).filter(([name]) => name !== field))

const answered = (body: unknown, options?: Partial<TokenIssuer.Options>) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.respondAlways("token", { status: 200, body })
    return yield* issue(options)
  }).pipe(Effect.provide(Simulator.layerHttpClient()))

const lifeOf = (expiresIn: unknown) =>
  Effect.map(answered(response({ expires_in: expiresIn })), ({ expiresAt, receivedAt }) => expiresAt - receivedAt)

const unexpected = (reason: string) => ({ _tag: "UnexpectedResponse", operation: "token", status: 200, reason })

const run = <A, E>(
  answers: ReadonlyArray<Simulator.Answer>,
  options: Partial<TokenIssuer.Options>,
  use: (
    outcome: NutritionAdvisorError.TokenError | NutritionAdvisorError.ConfigurationError | "issued",
    calls: number,
    millis: number
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const simulator = yield* Simulator.Simulator
    yield* simulator.respondNext("token", ...answers)
    const started = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const outcome = yield* settle(Effect.match(issue(options), {
      onFailure: (error) => error,
      onSuccess: () => "issued" as const
    }))
    const ended = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const { exchanges } = yield* simulator.counters
    return yield* use(outcome, exchanges, ended - started)
  }).pipe(Effect.provide(Simulator.layerHttpClient()))

describe("expires_in", () => {
  it.effect.each([
    [86_155.482, 86_155_482],
    [3600, 3_600_000],
    [0.5, 500],
    [1.0009, 1_000],
    [2.9999, 2_999],
    ["3600", 3_600_000],
    ["86155.482", 86_155_482],
    [31_536_000, 31_536_000_000],
    [31_536_001, 31_536_000_000],
    [1e12, 31_536_000_000],
    [1e300, 31_536_000_000],
    [Number.MAX_VALUE, 31_536_000_000]
  ])("counts in whole milliseconds, a year at most (case %#)", ([given, life]) =>
    Effect.gen(function*() {
      expect(yield* lifeOf(given)).toBe(life)
    }))

  it.effect.each([
    0,
    -5,
    -0.001,
    null,
    "",
    " ",
    "abc",
    "0",
    "-1",
    "NaN",
    "Infinity",
    "1e400",
    "12 seconds",
    true,
    [],
    [3600],
    {},
    { seconds: 3600 }
  ])("is refused where it is no positive finite number: %j", (given) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(lifeOf(given))).toMatchObject(unexpected("Schema"))
    }))

  it.effect("is refused where it is missing", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(answered(without("expires_in")))).toMatchObject(unexpected("Schema"))
    }))

  it.effect("is refused where JSON holds more than a number can", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(response()).replace("3600", "1e400")
      expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("Schema"))
    }))

  it.effect("is refused where the body says NaN", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(response()).replace("3600", "NaN")
      expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("NotJson"))
    }))

  it.effect.prop(
    "is never rounded up by a millisecond",
    [FastCheck.integer({ min: 1, max: 31_536_000_000 }), FastCheck.constantFrom(0, 0.25, 0.5, 0.75)],
    ([millis, part]) =>
      Effect.gen(function*() {
        expect(yield* lifeOf((millis + part) / 1000)).toBe(millis)
      }),
    { fastCheck: { examples: [[86_155_482, 0], [1, 0.75], [31_535_999_999, 0.75]] } }
  )

  it.effect("counts from the moment the answer was received", () =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.setLatency("token", "2 seconds")
      yield* Time.set(1_000_000)
      const token = yield* settle(issue())
      expect([token.receivedAt, token.expiresAt]).toEqual([1_002_000, 1_002_000 + 86_155_482])
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})

describe("token_type", () => {
  it.effect.each(["Bearer", "bearer", "BEARER", null])("is read as Bearer: %j", (type) =>
    Effect.gen(function*() {
      expect((yield* answered(response({ token_type: type }))).tokenType).toBe("Bearer")
    }))

  it.effect("is Bearer where it is missing", () =>
    Effect.gen(function*() {
      expect((yield* answered(without("token_type"))).tokenType).toBe("Bearer")
    }))

  it.effect.each(["mac", "", "Basic", "Bearer ", "Bearer\n", "bearer mac", 1, {}])(
    "is refused: %j",
    (type) =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(answered(response({ token_type: type })))).toMatchObject(unexpected("Schema"))
      })
  )
})

describe("access_token", () => {
  it.effect("is redacted", () =>
    Effect.gen(function*() {
      expect(Redacted.value((yield* answered(response())).value)).toBe("token-1")
    }))

  it.effect.each([
    "",
    " ",
    "\t",
    "a b",
    "token\n",
    "a\r\nb",
    "a\u0000b",
    "\u007f",
    "tokén",
    "🥑",
    "\ud800",
    null,
    1,
    {},
    ["token"]
  ])("is refused where no header can carry it: %j", (value) =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(answered(response({ access_token: value })))).toMatchObject(unexpected("Schema"))
    }))

  it.effect("is refused where it is missing", () =>
    Effect.gen(function*() {
      expect(yield* Effect.flip(answered(without("access_token")))).toMatchObject(unexpected("Schema"))
    }))
})

describe("customer_id", () => {
  it.effect("is redacted", () =>
    Effect.gen(function*() {
      expect(Redacted.value((yield* answered(response())).serviceId)).toBe("customer-1")
    }))

  it.effect.each([null, "", " ", "\t\n"])(
    "ends as MissingServiceId where it says nothing: %j",
    (id) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(answered(response({ customer_id: id })))
        expect(error).toEqual(new NutritionAdvisorError.MissingServiceId({ operation: "token" }))
      })
  )

  it.effect("ends as MissingServiceId where it is missing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(answered(without("customer_id")))
      expect(error).toEqual(new NutritionAdvisorError.MissingServiceId({ operation: "token" }))
    }))

  it.effect.each([1, {}, [], true, "a\r\nb", "customer\n", "é", "🥑", "\u0000"])(
    "is refused where no header can carry it: %j",
    (id) =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(answered(response({ customer_id: id })))).toMatchObject(unexpected("Schema"))
      })
  )

  it.effect.each([undefined, null, "", 1, {}, "a\r\nb", "another"])(
    "does not count where a serviceId is configured: %j",
    (id) =>
      Effect.gen(function*() {
        const token = yield* answered(response({ customer_id: id }), { serviceId: "configured" })
        expect(Redacted.value(token.serviceId)).toBe("configured")
      })
  )
})

describe("scope", () => {
  it.effect("is kept", () =>
    Effect.gen(function*() {
      expect((yield* answered(response())).scope).toEqual(Option.some("read:search"))
    }))

  it.effect("is left out where it repeats the token, the key or the identifier, also percent-encoded", () =>
    Effect.gen(function*() {
      const secrets = [response().access_token, Redacted.value(Simulator.licenseKey), response().customer_id]
      const inEveryByte = (text: string) => Array.from(text, (char) => `%${char.charCodeAt(0).toString(16)}`).join("")
      const scopes = secrets.flatMap((secret) => [`read:${secret}`, `read ${inEveryByte(secret)}`])
      const kept = yield* Effect.forEach(scopes, (scope) => answered(response({ scope })))
      expect(kept.map(({ scope }) => scope)).toEqual(scopes.map(() => Option.none()))
    }))

  it.effect("may be missing", () =>
    Effect.gen(function*() {
      expect((yield* answered(without("scope"))).scope).toEqual(Option.none())
    }))

  it.effect("may be null", () =>
    Effect.gen(function*() {
      expect((yield* answered(response({ scope: null }))).scope).toEqual(Option.none())
    }))
})

describe("the token response", () => {
  it.effect("may have further fields", () =>
    Effect.gen(function*() {
      const token = yield* answered(response({ refresh_token: "r", issued: { at: 1 }, __proto__: null }))
      expect(Redacted.value(token.value)).toBe("token-1")
    }))

  it.effect("may begin with a byte order mark", () =>
    Effect.gen(function*() {
      const { value } = yield* answered(`\ufeff${JSON.stringify(response())}`)
      expect(Redacted.value(value)).toBe("token-1")
    }))

  it.effect.each(["", "<!doctype html><p>Sign in", "{\"access_token\":\"token-1\",", "token-1", "{'a':1}"])(
    "is NotJson where it is: %j",
    (body) =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("NotJson"))
      })
  )

  it.effect("is NotJson where it is not UTF-8", () =>
    Effect.gen(function*() {
      const body = new Uint8Array([...new TextEncoder().encode("{\"access_token\":\""), 0xff, 0x22, 0x7d])
      expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("NotJson"))
    }))

  it.effect.each(["null", "[]", "{}", "1", "\"token\"", "true", "[{\"access_token\":\"token-1\"}]"])(
    "is of the wrong shape where it is: %s",
    (body) =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("Schema"))
      })
  )

  it.effect("is TooLarge above 64 KiB", () =>
    Effect.gen(function*() {
      const body = JSON.stringify(response({ padding: "x".repeat(64 * 1024) }))
      expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("TooLarge"))
    }))

  it.effect("may have 64 KiB", () =>
    Effect.gen(function*() {
      const bare = JSON.stringify(response({ padding: "" })).length
      const token = yield* answered(response({ padding: "x".repeat(64 * 1024 - bare) }))
      expect(Redacted.value(token.value)).toBe("token-1")
    }))

  it.effect("is TooLarge above 64 KiB also where maxResponseBytes allows more", () =>
    Effect.gen(function*() {
      const body = response({ padding: "x".repeat(10 * 1024 * 1024) })
      expect(yield* Effect.flip(answered(body))).toMatchObject(unexpected("TooLarge"))
    }))

  it.effect.prop(
    "never ends in anything but a token or a typed error",
    { body: FastCheck.oneof(FastCheck.json(), FastCheck.string({ unit: "binary" })) },
    ({ body }) =>
      Effect.gen(function*() {
        const outcome = yield* Effect.either(answered(body))
        expect(outcome._tag === "Right" || outcome.left._tag === "UnexpectedResponse").toBe(true)
      })
  )

  it.effect.prop(
    "never puts what it holds into an error",
    {
      value: FastCheck.constantFrom(" ", "\n", "é", "\u0000"),
      field: FastCheck.constantFrom("access_token", "customer_id")
    },
    ({ field, value }) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(answered(response({ [field]: `marker7f3a${value}` })))
        expect(`${error.message}${JSON.stringify(error)}${String(error)}${error.stack}`).not.toContain("marker7f3a")
      })
  )

  it.effect.each([201, 202, 206])("is read from any 2xx answer: %d", (status) =>
    Effect.gen(function*() {
      const simulator = yield* Simulator.Simulator
      yield* simulator.respondAlways("token", { status, body: response() })
      expect(Redacted.value((yield* issue()).value)).toBe("token-1")
    }).pipe(Effect.provide(Simulator.layerHttpClient())))
})

describe("attempts", () => {
  const failed: Simulator.Reply = { status: 500 }

  it.effect("go on after two failures of the service", () =>
    run([failed, failed], {}, (outcome, calls) => Effect.sync(() => expect([outcome, calls]).toEqual(["issued", 3]))))

  it.effect("go on after a dropped connection", () =>
    run(["drop", "drop"], {}, (outcome, calls) => Effect.sync(() => expect([outcome, calls]).toEqual(["issued", 3]))))

  it.effect("are three where the service goes on failing", () =>
    run([failed, { status: 502 }, { status: 503 }], {}, (outcome, calls) =>
      Effect.sync(() => {
        expect(calls).toBe(3)
        expect(outcome).toMatchObject({ _tag: "ServerError", operation: "token", status: 503 })
      })))

  it.effect("are three where the connection goes on dropping", () =>
    run(["drop", "drop", "drop", "drop"], {}, (outcome, calls) =>
      Effect.sync(() => {
        expect(calls).toBe(3)
        expect(outcome).toMatchObject({ _tag: "TransportError", operation: "token", reason: "Connection" })
      })))

  it.effect("are as many as the policy says", () =>
    run(
      [failed, failed, failed, failed],
      { refresh: { attempts: 5 } },
      (outcome, calls) => Effect.sync(() => expect([outcome, calls]).toEqual(["issued", 5]))
    ))

  it.effect("wait between one another", () =>
    run([failed, failed], {}, (_, __, millis) => Effect.sync(() => expect(millis).toBeGreaterThanOrEqual(480))))

  it.effect.each(
    [
      [400, { _tag: "BadRequest", status: 400 }],
      [401, { _tag: "Forbidden", status: 401, reason: "KeyRejected" }],
      [403, { _tag: "Forbidden", status: 403, reason: "KeyRejected" }],
      [404, { _tag: "UnexpectedResponse", status: 404, reason: "Status" }],
      [429, { _tag: "TooManyRequests", status: 429 }],
      [302, { _tag: "UnexpectedResponse", status: 302, reason: "Redirect" }]
    ] as const
  )(
    "end with the first answer that trying again can't change (case %#)",
    ([status, expected]) =>
      run([{ status }], {}, (outcome, calls) =>
        Effect.sync(() => {
          expect(calls).toBe(1)
          expect(outcome).toMatchObject({ operation: "token", ...expected })
        }))
  )

  it.effect("end with a body that is no token response", () =>
    run([{ status: 200, body: "<html>" }], {}, (_, calls) => Effect.sync(() => expect(calls).toBe(1))))

  it.effect("wait for a Retry-After that fits into tokenTimeout", () =>
    run([{ status: 503, headers: { "retry-after": "4" } }], {}, (outcome, _, millis) =>
      Effect.sync(() => {
        expect(outcome).toBe("issued")
        expect(millis).toBeGreaterThanOrEqual(4_000)
      })))

  it.effect("end at once with a Retry-After that does not fit into tokenTimeout", () =>
    run([{ status: 503, headers: { "retry-after": "20" } }], {}, (outcome, calls, millis) =>
      Effect.sync(() => {
        expect(outcome).toMatchObject({ _tag: "ServerError", status: 503, retryAfter: 20 })
        expect([calls, millis]).toEqual([1, 250])
      })))

  it.effect("end with a second Retry-After that does not fit into what is left", () =>
    run(
      [{ status: 503, headers: { "retry-after": "6" } }, { status: 503, headers: { "retry-after": "6" } }],
      {},
      (outcome, calls) =>
        Effect.sync(() => {
          expect(outcome).toMatchObject({ _tag: "ServerError", retryAfter: 6 })
          expect(calls).toBe(2)
        })
    ))

  it.effect("end at once with a Retry-After beyond every timer", () =>
    run(
      [{ status: 503, headers: { "retry-after": "999999999999999" } }],
      {},
      (_, calls) => Effect.sync(() => expect(calls).toBe(1))
    ))

  it.effect("end as Timeout after tokenTimeout where the service hangs", () =>
    run(["hang"], { tokenTimeout: "7 seconds" }, (outcome, calls, millis) =>
      Effect.sync(() => {
        expect(outcome).toMatchObject({ _tag: "TransportError", operation: "token", reason: "Timeout" })
        expect([calls, millis]).toEqual([1, 7_000])
      })))

  it.effect("share one tokenTimeout", () =>
    run([failed, "hang"], { tokenTimeout: "7 seconds" }, (outcome, _, millis) =>
      Effect.sync(() => {
        expect(outcome).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
        expect(millis).toBe(7_000)
      })))

  it.effect("abort the request when tokenTimeout is over", () =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(false)
      const client = HttpClient.make(() => Effect.onInterrupt(Effect.never, () => Ref.set(interrupted, true)))
      yield* settle(Effect.exit(Effect.provideService(issue(), HttpClient.HttpClient, client)))
      expect(yield* Ref.get(interrupted)).toBe(true)
    }))

  it.effect.each([400, 401, 403, 404, 409, 422, 429])(
    "end with what the service said, redacted: %d",
    (status) =>
      run(
        [{ status, headers: { "content-type": "text/plain" }, body: "unknown: demo-key-7f3a" }],
        {},
        (outcome) =>
          Effect.sync(() => {
            expect(outcome).toMatchObject({ operation: "token", body: Redacted.make("unknown: demo-key-7f3a") })
            expect(`${JSON.stringify(outcome)} ${inspect(outcome)}`).not.toContain("demo-key-7f3a")
          })
      )
  )
})

describe("licenseKey", () => {
  const failing = (error: NutritionAdvisorError.LicenseKeyUnavailable) =>
    issue({ licenseKey: Effect.fail(error) }).pipe(Effect.provide(Simulator.layerHttpClient()), Effect.flip)

  const seenPaths = (licenseKey: TokenIssuer.Options["licenseKey"], times: number) =>
    Effect.gen(function*() {
      const paths = yield* Ref.make<ReadonlyArray<string>>([])
      const client = HttpClient.make((request, url) =>
        Effect.as(
          Ref.update(paths, (paths) => [...paths, url.pathname]),
          HttpClientResponse.fromWeb(request, Response.json(response()))
        )
      )
      const issuer = yield* TokenIssuer.make({ ...defaults, licenseKey }).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      yield* Effect.repeatN(issuer.issue(Issuer.missing), times - 1)
      return yield* Ref.get(paths)
    })

  it.effect("is read at each exchange where it is an effect", () =>
    Effect.gen(function*() {
      const reads = yield* Ref.make(0)
      const licenseKey = Effect.map(Ref.updateAndGet(reads, (n) => n + 1), (n) => Redacted.make(`key-no-${n}`))
      const paths = yield* seenPaths(licenseKey, 3)
      expect(paths.map((path) => path.split("/").at(-1))).toEqual(["key-no-1", "key-no-2", "key-no-3"])
    }))

  it.effect("is not read while the issuer is made", () =>
    Effect.gen(function*() {
      const reads = yield* Ref.make(0)
      const licenseKey = Effect.as(Ref.update(reads, (n) => n + 1), Simulator.licenseKey)
      yield* TokenIssuer.make({ ...defaults, licenseKey }).pipe(Effect.provide(Simulator.layerHttpClient()))
      expect(yield* Ref.get(reads)).toBe(0)
    }))

  it.effect("passes on the error of the effect that reads it", () =>
    Effect.gen(function*() {
      const error = new NutritionAdvisorError.LicenseKeyUnavailable({ detail: "the vault is sealed" })
      expect(yield* failing(error)).toEqual(error)
    }))

  it.effect("ends as Timeout where the effect that reads it hangs", () =>
    run([], { licenseKey: Effect.never, tokenTimeout: "2 seconds" }, (outcome, calls) =>
      Effect.sync(() => {
        expect(outcome).toMatchObject({ _tag: "TransportError", reason: "Timeout" })
        expect(calls).toBe(0)
      })))

  it.effect.each(["", " ", ".", "..", "%2e", "undefined", "<your key>", "key\n", "a\r\nb", "\ud800"])(
    "is LicenseKeyUnavailable, with nothing sent, where the effect reads %j",
    (key) =>
      run([], { licenseKey: Effect.succeed(Redacted.make(key)) }, (outcome, calls) =>
        Effect.sync(() => {
          expect(outcome).toMatchObject({ _tag: "LicenseKeyUnavailable", operation: "token" })
          expect(calls).toBe(0)
        }))
  )

  it.effect.each(["", " ", ".", "..", "%2e", "undefined", "<your key>", "key\n", "a\r\nb", "\ud800"])(
    "is a ConfigurationError where it is %j from the start",
    (key) =>
      run([], { licenseKey: Redacted.make(key) }, (outcome, calls) =>
        Effect.sync(() => {
          expect(outcome).toMatchObject({ _tag: "ConfigurationError", field: "licenseKey" })
          expect(calls).toBe(0)
        }))
  )

  it.effect("is one segment of the path, whatever it holds", () =>
    Effect.gen(function*() {
      const paths = yield* seenPaths(Redacted.make("a/b?c#d e+f%2F🥑"), 1)
      expect(paths).toEqual([
        "/v2/token-cache/nutrition-advisor/oauth/licence/a%2Fb%3Fc%23d%20e%2Bf%252F%F0%9F%A5%91"
      ])
    }))

  it.effect.prop(
    "is one segment of the path that decodes to itself",
    [FastCheck.string({ unit: "binary", minLength: 1 }).filter((key) => !/^[\s.]|\s$|\p{Cc}/u.test(key))],
    ([key]) =>
      Effect.gen(function*() {
        const paths = yield* seenPaths(Effect.succeed(Redacted.make(`7f3a${key}`)), 1)
        expect(paths.map((path) => path.split("/").map(decodeURIComponent).slice(6))).toEqual([[`7f3a${key}`]])
      }),
    {
      fastCheck: {
        examples: ["$&", "$1", "$$", "{key}", "?&#+%/", "\\", "%2e", "x".repeat(10_000)].map((key): [string] => [key])
      }
    }
  )
})

describe("layer", () => {
  it.effect("gives the issuer of its module", () =>
    Effect.gen(function*() {
      const issuer = yield* TokenIssuer.TokenIssuer
      expect((yield* issuer.issue(Issuer.missing)).tokenType).toBe("Bearer")
    }).pipe(Effect.provide(TokenIssuer.layer(defaults).pipe(Layer.provide(Simulator.layerHttpClient())))))

  it.effect.each(
    [
      [{ baseUrl: "advisor.example" }, "baseUrl"],
      [{ tokenRoute: "/v2/own" as "/{key}" }, "tokenRoute"],
      [{ serviceId: " " }, "serviceId"],
      [{ tokenTimeout: 0 }, "tokenTimeout"],
      [{ refresh: { attempts: 0 } }, "refresh.attempts"]
    ] as const
  )("refuses a setting that can't work (case %#)", ([options, field]) =>
    Effect.gen(function*() {
      const error = yield* Layer.build(TokenIssuer.layer({ ...defaults, ...options })).pipe(
        Effect.provide(Simulator.layerHttpClient()),
        Effect.scoped,
        Effect.flip
      )
      expect(error).toMatchObject({ _tag: "ConfigurationError", field })
    }))
})
