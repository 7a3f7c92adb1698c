/** What users of other clients met between client and service; README.md says where. */
import { getEventListeners } from "node:events"
import { inspect } from "node:util"
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either, Fiber, Layer, Logger, LogLevel, Redacted, type Tracer } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry } from "effect-nutrition-advisor"
import { type ClientOptions, createClient } from "effect-nutrition-advisor/promise"
import { vi } from "vitest"
import * as Time from "../support/doubles/Time.js"
import { json, key, serviceOf, settings } from "../support/field/service.js"

type Service = ReturnType<typeof serviceOf>

const clientOf = ({ httpClient }: Service, options: Partial<ClientOptions> = {}) =>
  createClient({ ...settings, httpClient, ...options })

const advisorOf = ({ httpClient }: Service, options: Partial<NutritionAdvisor.Options> = {}) =>
  Layer.provide(NutritionAdvisor.layer({ ...settings, licenseKey: Redacted.make(key), ...options }), httpClient)

const search = NutritionAdvisor.search("oats")

/** A body that stalls, and whether it was given up. */
const stalling = () => {
  const cancel = vi.fn()
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])), cancel })
  return { cancel, response: () => new Response(body, { headers: { "content-type": "application/json" } }) }
}

/** Rejects the first data request. */
const rejectingOnce = () => serviceOf((_, index) => json({ results: index }, { status: index === 0 ? 401 : 200 }))

describe("request timeout", () => {
  it.effect.each(["search", "token"] as const)(
    "it covers the body of a %s, which is canceled",
    (operation) =>
      Effect.gen(function*() {
        const { cancel, response } = stalling()
        const service = operation === "search" ? serviceOf(response) : serviceOf(undefined, response)
        const advisor = advisorOf(service, { requestTimeout: "2 seconds", tokenTimeout: "2 seconds" })
        const caller = yield* Effect.fork(Effect.flip(Effect.provide(search, advisor)))
        yield* Time.pass("2 seconds")
        expect(yield* Fiber.join(caller)).toMatchObject({ _tag: "TransportError", reason: "Timeout", operation })
        expect(cancel).toHaveBeenCalled()
      })
  )
})

describe("request with a body", () => {
  it.each([
    ["text", () => "oats"],
    ["a stream, which goes out as bytes", () => new Blob(["oats"]).stream()]
  ])("of %s is sent again in full after a rejection, and the caller gets the second response", async (_, body) => {
    const service = rejectingOnce()
    await using advisor = clientOf(service)
    const response = await advisor.fetch("/v2/diary", { method: "POST", body: body() })
    expect([response.status, await response.json()]).toEqual([200, { results: 1 }])
    const bytes = new TextEncoder().encode("oats")
    expect(service.sent.map(({ init }) => init.body)).toEqual([bytes, bytes])
  })

  it.each(["4", "9", "4, 4"])("the caller's content-length is dropped: %s", async (length) => {
    const noted = vi.fn((request: HttpClientRequest.HttpClientRequest) => request)
    const noting = Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(noted))
    const httpClient = Layer.provide(Layer.effect(HttpClient.HttpClient, noting), serviceOf().httpClient)
    await using advisor = createClient({ ...settings, httpClient })
    await advisor.fetch("/v2/diary", { method: "POST", body: "oats", headers: { "content-length": length } })
    expect(noted.mock.lastCall?.[0].headers["content-length"]).toBeUndefined()
  })
})

describe("response", () => {
  it.each([204, 205])("status %d without a body gives a Response", async (status) => {
    await using advisor = clientOf(serviceOf(() => new Response(null, { status })))
    const response = await advisor.fetch("/v2/diary", { method: "DELETE" })
    expect([response.status, response.body]).toEqual([status, null])
  })

  it.each<readonly [coding: string, bytes: string | Uint8Array<ArrayBuffer>, isDecoded: boolean]>([
    ["gzip", "{}", true],
    ["zstd", "{}", true],
    ["zstd", new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 4, 0]), false]
  ])("can be handed on: it says %s where it is still compressed alone", async (coding, bytes, isDecoded) => {
    const answer = () => new Response(bytes, { headers: { "content-encoding": coding, "content-length": "6" } })
    await using advisor = clientOf(serviceOf(answer))
    const { headers } = await advisor.fetch("/v2/foods")
    expect([headers.has("content-encoding"), headers.has("content-length")]).toEqual([!isDecoded, !isDecoded])
  })

  it("a compressed body is read up to the limit, regardless of its content-length", async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull: (controller) => {
        pulled += 1
        controller.enqueue(new Uint8Array(64 * 1024))
      }
    })
    const headers = { "content-encoding": "gzip", "content-length": "1000", "content-type": "application/json" }
    await using advisor = clientOf(serviceOf(() => new Response(body, { headers })), { maxResponseBytes: 1024 * 1024 })
    await expect(advisor.search("oats")).rejects.toMatchObject({ reason: "TooLarge" })
    expect(pulled).toBeLessThan(32)
  })

  it("an HTML page of the token route that claims to be JSON is reported without its text", async () => {
    const page = () => new Response("<!DOCTYPE html>blocked", { headers: { "content-type": "application/json" } })
    await using advisor = clientOf(serviceOf(undefined, page))
    const error = await advisor.search("oats").catch((error: unknown) => error)
    expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "token", reason: "NotJson" })
    expect(inspect(error)).not.toContain("DOCTYPE")
  })
})

describe("fetch call", () => {
  it("it uses nothing that worker platforms lack", async () => {
    const service = serviceOf()
    await using advisor = clientOf(service)
    await advisor.search("oats")
    const known = new Set(["body", "headers", "method", "redirect", "signal"])
    for (const { init } of [...service.exchanges, ...service.sent]) {
      expect(init.redirect).toBe("manual")
      expect(Object.entries(init).filter(([name, value]) => value !== undefined && !known.has(name))).toEqual([])
    }
  })

  it.each(["", "/"])("the path starts with the path of the base URL, even if that ends with %j", async (end) => {
    const service = serviceOf()
    await using advisor = clientOf(service, { baseUrl: `https://advisor.example/a/b${end}` })
    await Promise.all([advisor.search("oats"), advisor.fetch("/v2/plan")])
    const paths = [...service.exchanges, ...service.sent].map(({ url }) => url.pathname.slice(0, 8))
    expect(paths).toEqual(["/a/b/v2/", "/a/b/v2/", "/a/b/v2/"])
  })

  it("the caller's accept-encoding is not forwarded", async () => {
    const service = serviceOf()
    await using advisor = clientOf(service)
    await advisor.search("oats", { headers: { "accept-encoding": "gzip, br, zstd" } })
    await advisor.fetch("/v2/plan", { headers: { "accept-encoding": "gzip, br, zstd" } })
    expect(service.sent.map(({ headers }) => headers.get("accept-encoding"))).toEqual([null, null])
  })

  it("fifty calls leave no listener on a shared signal", async () => {
    await using advisor = clientOf(serviceOf())
    const { signal } = new AbortController()
    const warn = vi.spyOn(process, "emitWarning")
    await Promise.all(Array.from({ length: 50 }, () => advisor.search("oats", { signal })))
    expect([getEventListeners(signal, "abort").length, warn.mock.calls]).toEqual([0, []])
    warn.mockRestore()
  })
})

describe("connection that the service closed while it was idle", () => {
  const closed = () => Promise.reject(new TypeError("fetch failed", { cause: { code: "UND_ERR_SOCKET" } }))

  const service = () => serviceOf((_, index) => index === 0 ? closed() : json({ results: ["oats"] }))

  it.effect("the error is transient, and RequestRetry repeats the search", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.provide(search, advisorOf(service())))
      expect(error).toMatchObject({ _tag: "TransportError", reason: "Aborted", code: "UND_ERR_SOCKET" })
      expect(NutritionAdvisorError.isTransient(error)).toBe(true)
      const retried = Layer.provide(RequestRetry.layer(), advisorOf(service()))
      expect(yield* Time.settle("1 second")(Effect.provide(search, retried))).toEqual({ results: ["oats"] })
    }))
})

it.effect("a host name that temporarily can't be resolved fails with its code", () =>
  Effect.gen(function*() {
    const fails = () => Promise.reject(new TypeError("fetch failed", { cause: { code: "EAI_AGAIN" } }))
    const error = yield* Effect.flip(Effect.provide(search, advisorOf(serviceOf(fails))))
    expect(error).toMatchObject({ _tag: "TransportError", reason: "Connection", code: "EAI_AGAIN" })
  }))

describe("Retry-After of an hour", () => {
  const busy = () => json({}, { status: 503, headers: { "retry-after": "3600" } })

  it.effect.each(["search", "token"] as const)(
    "a %s fails at once, and the error says how long to wait",
    (operation) =>
      Effect.gen(function*() {
        const service = operation === "search" ? serviceOf(busy) : serviceOf(undefined, busy)
        const retried = Layer.provide(RequestRetry.layer(), advisorOf(service))
        const error = yield* Effect.flip(Effect.provide(search, retried))
        expect(error).toMatchObject({ _tag: "ServerError", operation, retryAfter: 3_600 })
        expect(service[operation === "search" ? "sent" : "exchanges"]).toHaveLength(1)
      })
  )
})

describe("license key", () => {
  it.each([
    ["the line break of a file", `${key}\n`],
    ["a line break of Windows", `${key}\r\n`],
    ["an invisible space", `\u200b${key}`],
    ["the quotation marks of an env file", `"${key}"`],
    ["the dots of a page that hides it", `${key.slice(0, 9)}••••`],
    ["the ellipsis of an example", `${key.slice(0, 9)}…`]
  ])("with %s is rejected before anything is sent, and is not in the error", (_, licenseKey) => {
    const service = serviceOf()
    const refusal = Either.flip(Either.try(() => clientOf(service, { licenseKey })))
    expect(refusal).toMatchObject({ right: { _tag: "ConfigurationError", field: "licenseKey" } })
    expect(inspect(refusal, { depth: 9, showHidden: true })).not.toContain(key.slice(0, 9))
    expect(service.exchanges).toEqual([])
  })

  it.effect("it is in no error, log line or span if fetch repeats the URL in its error", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make((entry) => void seen.push(entry)))
      const fails = ({ url }: { readonly url: URL }) =>
        Promise.reject(new TypeError(`Failed to fetch ${url.href}`, { cause: url }))
      const noted = yield* Effect.map(Effect.tracer, (tracer): Tracer.Tracer => ({
        ...tracer,
        span: (...args) => {
          const span = tracer.span(...args)
          seen.push(span)
          return span
        }
      }))
      const error = yield* Effect.flip(Effect.provide(search, advisorOf(serviceOf(undefined, fails)))).pipe(
        Time.settle("1 second"),
        Effect.withTracer(noted),
        Logger.withMinimumLogLevel(LogLevel.All),
        Effect.provide(logger)
      )
      expect(error).toMatchObject({ _tag: "TransportError", reason: "Connection" })
      expect(seen.length).toBeGreaterThan(2)
      expect(inspect([error, seen], { depth: 12, showHidden: true })).not.toContain(key)
    }))
})

describe("environment variable", () => {
  it.effect("a blank variable counts as unset", () =>
    Effect.gen(function*() {
      const service = serviceOf()
      const optional =
        "TOKEN_ROUTE SERVICE_ID SERVICE_ID_HEADER TOKEN_TIMEOUT REQUEST_TIMEOUT MAX_RESPONSE_BYTES USER_AGENT"
      const variables = new Map([
        ["NUTRITION_ADVISOR_BASE_URL", settings.baseUrl],
        ["NUTRITION_ADVISOR_LICENSE_KEY", key],
        ...optional.split(" ").map((name) => [`NUTRITION_ADVISOR_${name}`, " "] as const)
      ])
      yield* search.pipe(
        Effect.provide(Layer.provide(NutritionAdvisor.layerConfig(), service.httpClient)),
        Effect.withConfigProvider(ConfigProvider.fromMap(variables))
      )
      expect(service.sent[0]?.headers.get("service-id")).toBe("customer")
    }))
})
