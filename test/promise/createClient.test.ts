import { expect, it, vi } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { key, settings, simulatedClient } from "./simulatedClient.js"

const untyped = (options: object): Advisor.ClientOptions => options

const refusals: ReadonlyArray<readonly [field: string, what: string, Advisor.ClientOptions]> = [
  ["baseUrl", "http to another host", { baseUrl: "http://nutrition.example" }],
  ["licenseKey", "null", untyped({ licenseKey: null })],
  ["licenseKey", "a placeholder", { licenseKey: Redacted.make("<your key>") }],
  ["lease", "negative", { lease: -1, sharedTokenCache: SharedTokenCache.layerMemory }],
  ["retry.times", "negative", { retry: { times: -1 } }],
  ["retry", "a number", untyped({ retry: 3 })],
  ["throttle.rate.limit", "zero", { throttle: { rate: { limit: 0, interval: "1 second" } } }],
  ["cache.timeToLive", "zero", { retry: true, cache: { timeToLive: 0 } }],
  ["httpClient", "a fetch function", untyped({ httpClient: fetch })],
  ["sharedTokenCache", "a URL", untyped({ sharedTokenCache: "redis://127.0.0.1:6379" })],
  ["logger", "null", untyped({ logger: null })],
  ["logger", "an object without an `error` method", {
    // @ts-expect-error A logger has four methods.
    logger: { debug: () => {}, info: () => {}, warn: () => {} }
  }],
  ["cache.timeToLive", "missing", {
    // @ts-expect-error The options of SearchCache need a timeToLive.
    cache: { capacity: 5 }
  }]
]

it.each(refusals)(
  "createClient: it throws a ConfigurationError that names %s if its value is %s",
  (field, _, wrong) => {
    const create = () => Advisor.createClient({ ...settings, ...wrong })
    expect(create).toThrow(Advisor.ConfigurationError)
    const message = expect.stringMatching(`^The settings? ${field} [^(]`)
    expect(create).toThrow(expect.objectContaining({ field, message }))
    expect(create).toThrow(expect.not.objectContaining({ variable: expect.anything() }))
  }
)

it("createClient: the stack of its ConfigurationError names the caller", () => {
  const callingFunction = () => Advisor.createClient({ ...settings, tokenTimeout: -1 })
  const stack = expect.stringMatching(/createClient[^]*callingFunction/)
  expect(callingFunction).toThrow(expect.objectContaining({ stack }))
})

it.each(["a key", null])("createClient: it throws a ConfigurationError if its options are %j", (options) => {
  const message = expect.stringMatching(/^(?![^]*a key)[^]*options must be an object/)
  expect(() => Advisor.createClient(JSON.parse(JSON.stringify(options))))
    .toThrow(expect.objectContaining({ _tag: "ConfigurationError", field: "options", message }))
})

it("createClient: a misspelled option is reported instead of the missing setting", () => {
  // @ts-expect-error There is no option with that name.
  expect(() => Advisor.createClient({ baseURL: Simulator.baseUrl, licenseKey: key }))
    .toThrow(expect.objectContaining({ _tag: "ConfigurationError", field: "baseURL" }))
})

it.each(["lease", "cacheTimeout"])("createClient: %s is rejected without a sharedTokenCache", (field) => {
  expect(() => Advisor.createClient({ ...settings, [field]: "20 seconds" }))
    .toThrow(expect.objectContaining({ field, rule: expect.stringContaining("sharedTokenCache") }))
  expect(() => Advisor.createClient({ ...settings, [field]: undefined })).not.toThrow()
})

it("createClient: a missing option is read from its variable even if other options are given", async () => {
  vi.stubEnv("NUTRITION_ADVISOR_LICENSE_KEY", key)
  vi.stubEnv("NUTRITION_ADVISOR_USER_AGENT", "of-the-variable")
  await using world = simulatedClient({ licenseKey: undefined, requestTimeout: "1 minute" })
  await world.advisor.search("oats")
  const [{ headers } = {}] = await world.run(({ requests }) => requests)
  expect(headers).toMatchObject({ "user-agent": "of-the-variable" })
})

it("createClient: an option overrides its variable, even if the variable is invalid", () => {
  vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", "ftp://elsewhere.example")
  vi.stubEnv("NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon")
  expect(() => Advisor.createClient({ ...settings, requestTimeout: 1_000 })).not.toThrow()
})

it("createClient: NUTRITION_ADVISOR_LEASE is read only with a sharedTokenCache", () => {
  vi.stubEnv("NUTRITION_ADVISOR_LEASE", "soon")
  expect(() => Advisor.createClient(settings)).not.toThrow()
  const expected = { field: expect.stringMatching(/lease/i), variable: "NUTRITION_ADVISOR_LEASE" }
  expect(() => Advisor.createClient({ ...settings, sharedTokenCache: SharedTokenCache.layerMemory }))
    .toThrow(expect.objectContaining(expected))
})

it("createClient: a variable that can't be read, as in Deno without its permission, counts as not set", () => {
  const denied = new Proxy({}, {
    get: (_, name) => {
      throw new Error(`Requires env access to "${String(name)}"`)
    }
  })
  vi.spyOn(process, "env", "get").mockReturnValue(denied)
  expect(() => Advisor.createClient(settings)).not.toThrow()
})

it("createClient: options can be getters of a class", async () => {
  await using world = simulatedClient()
  class Options {
    readonly licenseKey = key
    readonly httpClient = world.httpClient
    get baseUrl() {
      return settings.baseUrl
    }
  }
  await using advisor = Advisor.createClient(new Options())
  await advisor.search("oats")
  expect(await world.run(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 1 })
})

it("createClient: the first searches are sent in the order of their calls", async () => {
  await using world = simulatedClient()
  await Promise.all(["oats", "rice", "milk"].map((term) => world.advisor.search(term)))
  const [, ...sent] = await world.run(({ requests }) => requests)
  expect(sent.map(({ query }) => query)).toEqual(["term=oats", "term=rice", "term=milk"])
})

it("createClient: the first search is sent with its options as they were at the call", async () => {
  await using world = simulatedClient()
  const options = { urlParams: { page: 1 }, headers: { "x-page": "1" } }
  const search = world.advisor.search("oats", options)
  options.urlParams.page = 2
  options.headers["x-page"] = "2"
  await search
  const [, sent] = await world.run(({ requests }) => requests)
  expect(sent).toMatchObject({ query: "term=oats&page=1", headers: { "x-page": "1" } })
})

it("createClient: with retry, throttle and cache set to false, each search sends one request", async () => {
  await using world = simulatedClient({ retry: false, throttle: false, cache: false })
  await world.run(({ respondNext }) => respondNext("search", { status: 429 }, { status: 503 }))
  for (const status of [429, 503]) await expect(world.advisor.search("oats")).rejects.toMatchObject({ status })
  await Promise.all([world.advisor.search("oats"), world.advisor.search("oats")])
  expect(await world.run(({ counters }) => counters)).toMatchObject({ searches: 4 })
})

const untilTomorrow = { rate: { limit: 1, interval: "1 day" }, maxWait: "1 minute" } as const

it("createClient: a retry counts against the rate", async () => {
  await using world = simulatedClient({ cache: true, retry: { base: 1 }, throttle: untilTomorrow })
  await world.run(({ respondNext }) => respondNext("search", { status: 503 }))
  const error = await world.advisor.search("oats").catch((error: unknown) => error)
  expect(error).toMatchObject({ _tag: "TooManyRequests" })
  expect(error).not.toHaveProperty("status")
})

it("createClient: with `cache: true`, a cached search doesn't count against the rate", async () => {
  await using world = simulatedClient({ cache: true, throttle: untilTomorrow })
  expect(await world.advisor.search("oats")).toEqual(await world.advisor.search("oats"))
  await expect(world.advisor.search("rice")).rejects.toMatchObject({ _tag: "TooManyRequests" })
})

it("createClient: with retry, throttle and cache, `status` returns the state of the token", async () => {
  await using world = simulatedClient({ retry: true, throttle: true, cache: true })
  await world.advisor.search("oats")
  expect(await world.advisor.status()).toMatchObject({ state: "fresh" })
})

it.each<readonly [string, NonNullable<Advisor.ClientOptions["sharedTokenCache"]>, object]>([
  ["a wrong url", RedisTokenCache.layer({ url: Redacted.make("http://redis") }), { field: "url" }],
  ["a missing variable, whose message names it once", RedisTokenCache.layerConfig(), {
    message: "The setting NUTRITION_ADVISOR_REDIS_URL is not set."
  }]
])("createClient: it throws the ConfigurationError of a sharedTokenCache with %s", (_, sharedTokenCache, expected) => {
  vi.stubEnv("NUTRITION_ADVISOR_REDIS_URL", undefined)
  expect(() => Advisor.createClient({ ...settings, sharedTokenCache }))
    .toThrow(expect.objectContaining({ _tag: "ConfigurationError", ...expected }))
})

it("createClient: the first call rejects with the error of a sharedTokenCache that fails later", async () => {
  const error = new Advisor.ConfigurationError({ field: "url" })
  const failsLater = Layer.effect(
    SharedTokenCache.SharedTokenCache,
    Effect.zipRight(Effect.promise(() => Promise.resolve()), Effect.fail(error))
  )
  await using world = simulatedClient({ sharedTokenCache: failsLater })
  await expect(world.advisor.search("oats")).rejects.toBe(error)
})

it("createClient: before the first call, no resource of the sharedTokenCache is open", async () => {
  let open = 0
  const watched = Layer.scopedDiscard(
    Effect.acquireRelease(Effect.sync(() => open += 1), () => Effect.sync(() => open -= 1))
  )
  await using world = simulatedClient({ sharedTokenCache: Layer.provide(SharedTokenCache.layerMemory, watched) })
  expect(open).toBe(0)
  await world.advisor.search("oats")
  expect(open).toBe(1)
})

it("createClient: if the layer of sharedTokenCache waits, checking the options interrupts it", async () => {
  const interrupted = vi.fn()
  const waiting = Layer.scopedDiscard(Effect.onInterrupt(Effect.never, () => Effect.sync(interrupted)))
  Advisor.createClient({ ...settings, sharedTokenCache: Layer.provide(SharedTokenCache.layerMemory, waiting) })
  await vi.waitFor(() => expect(interrupted).toHaveBeenCalledOnce())
})

it("createClient: in a process without fetch, calls fail with a TransportError that says so", async () => {
  vi.stubGlobal("fetch", undefined)
  await using advisor = Advisor.createClient(settings)
  const message = expect.stringContaining("This process has no fetch")
  await expect(advisor.search("oats")).rejects.toMatchObject({ _tag: "TransportError", code: "ERR_NO_FETCH", message })
})
