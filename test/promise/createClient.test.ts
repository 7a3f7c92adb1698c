import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SharedTokenCache } from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { Simulator } from "effect-nutrition-advisor/testing"
import { afterEach, vi } from "vitest"
import { rejection, thrownBy } from "./outcomes.js"
import { simulated } from "./simulated.js"

const key = Redacted.value(Simulator.licenseKey)

const heldBack = expect.not.objectContaining({ status: expect.anything() })

const settings = { baseUrl: Simulator.baseUrl, licenseKey: key }

/** What a program without types passes. */
const untyped = (options: object): Advisor.ClientOptions => options

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe("createClient: settings", () => {
  it.each<readonly [string, Advisor.ClientOptions]>([
    ["baseUrl", { baseUrl: "http://nutrition.example" }],
    ["licenseKey", { licenseKey: " " }],
    ["licenseKey", untyped({ licenseKey: null })],
    ["licenseKey", { licenseKey: Redacted.make("<your key>") }],
    ["tokenTimeout", { tokenTimeout: -1 }],
    ["observeHeaders", { observeHeaders: ["set-cookie"] }],
    ["lease", { lease: -1, sharedTokenCache: SharedTokenCache.layerMemory }],
    ["retry.times", { retry: { times: -1 } }],
    ["retry.cap", { retry: { cap: "-1 seconds" } }],
    ["throttle.rate.limit", { throttle: { rate: { limit: 0, interval: "1 second" } } }],
    ["cache.timeToLive", { cache: { timeToLive: 0 } }],
    ["logger", untyped({ logger: {} })],
    ["logger", untyped({ logger: null })],
    ["logger", untyped({ logger: { debug: () => {}, info: () => {}, warn: () => {} } })],
    ["cache.capacity", { retry: true, cache: { timeToLive: "1 minute", capacity: 0.5 } }]
  ])("createClient throws a ConfigurationError that names the wrong setting %s, case %#", (field, wrong) => {
    const error = thrownBy(() => Advisor.createClient({ ...settings, ...wrong }))
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    expect(error).toMatchObject({ field, message: expect.stringContaining(field) })
    expect(error).not.toHaveProperty("variable", expect.anything())
    expect(error).toHaveProperty("stack", expect.stringMatching(/createClient[^]*thrownBy/))
  })

  it.each(["timeOut", "retries", "baseURL"])("createClient refuses the unknown option %s", (field) => {
    const error = thrownBy(() => Advisor.createClient(untyped({ ...settings, [field]: 1 })))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field })
  })

  it("createClient names a misspelled option rather than the setting that is missing because of it", () => {
    const error = thrownBy(() => Advisor.createClient(untyped({ baseURL: Simulator.baseUrl, licenseKey: key })))
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "baseURL" })
  })

  it.each(["lease", "cacheTimeout"])("createClient refuses %s without a sharedTokenCache", (field) => {
    const error = thrownBy(() => Advisor.createClient({ ...settings, [field]: "20 seconds" }))
    expect(error).toMatchObject({
      _tag: "ConfigurationError",
      field,
      rule: expect.stringContaining("sharedTokenCache")
    })
  })
})

describe("createClient: variables", () => {
  it.each<readonly [string, string, string | undefined]>([
    ["baseUrl", "NUTRITION_ADVISOR_BASE_URL", undefined],
    ["licenseKey", "NUTRITION_ADVISOR_LICENSE_KEY", undefined],
    ["licenseKey", "NUTRITION_ADVISOR_LICENSE_KEY", "<key>"],
    ["requestTimeout", "NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon"],
    ["maxResponseBytes", "NUTRITION_ADVISOR_MAX_RESPONSE_BYTES", "-5"]
  ])("createClient names the variable of %s if it is missing or wrong, case %#", (field, variable, value) => {
    vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl)
    vi.stubEnv("NUTRITION_ADVISOR_LICENSE_KEY", key)
    Advisor.createClient()
    vi.stubEnv(variable, value)
    const error = thrownBy(() => Advisor.createClient())
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    const sentence = new RegExp(`^The setting ${field} \\(${variable}\\) (is|looks|must) .*\\.$`)
    expect(error).toMatchObject({ field, variable, message: expect.stringMatching(sentence) })
  })

  it("createClient reads the variable of each option that is missing, though others are given", async () => {
    vi.stubEnv("NUTRITION_ADVISOR_LICENSE_KEY", key)
    vi.stubEnv("NUTRITION_ADVISOR_USER_AGENT", "of-the-variable")
    await using world = simulated({ licenseKey: undefined, requestTimeout: "1 minute" })
    await world.advisor.search("oats")
    const [{ headers } = {}] = await world.told(({ requests }) => requests)
    expect(headers).toMatchObject({ "user-agent": "of-the-variable" })
  })

  it("createClient prefers an option to its variable, even to one that is wrong", () => {
    vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", "ftp://elsewhere.example")
    vi.stubEnv("NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon")
    Advisor.createClient({ ...settings, requestTimeout: 1_000 })
  })

  it("createClient reads LEASE and CACHE_TIMEOUT of a client that shares its token, and only of that", () => {
    vi.stubEnv("NUTRITION_ADVISOR_LEASE", "soon")
    Advisor.createClient(settings)
    const error = thrownBy(() => Advisor.createClient({ ...settings, sharedTokenCache: SharedTokenCache.layerMemory }))
    expect(error).toMatchObject({ field: expect.stringMatching(/lease/i), variable: "NUTRITION_ADVISOR_LEASE" })
  })
})

describe("createClient: retry, throttle and cache", () => {
  const untilTomorrow = { rate: { limit: 1, interval: "1 day" }, maxWait: "1 minute" } as const
  const cache = { timeToLive: "1 hour" } as const

  it("createClient with retry: true repeats a search that failed", async () => {
    await using world = simulated({ retry: true })
    await world.told(({ respondNext }) => respondNext("search", { status: 503 }))
    expect(await world.advisor.search("oats")).toHaveProperty("results")
  })

  it("createClient with retry: true repeats a GET of fetch", async () => {
    await using world = simulated({ retry: true })
    await world.told(({ respondNext }) => respondNext("search", { status: 503 }))
    const response = await world.advisor.fetch("/v2/products/napi/food/search/semantic?term=oats")
    expect(response.status).toBe(200)
  })

  it("createClient with throttle: true holds searches back after a 429", async () => {
    await using world = simulated({ throttle: true })
    await world.told(({ respondNext }) => respondNext("search", { status: 429, headers: { "retry-after": "60" } }))
    expect(await rejection(world.advisor.search("oats"))).toMatchObject({ _tag: "TooManyRequests", status: 429 })
    const error = await rejection(world.advisor.search("rice"))
    expect(error).toMatchObject({ _tag: "TooManyRequests" })
    expect(error).toEqual(heldBack)
  })

  it("createClient with cache: true sends one request for two equal searches", async () => {
    await using world = simulated({ cache: true })
    expect(await world.advisor.search("oats")).toEqual(await world.advisor.search("oats"))
    expect(await world.told(({ counters }) => counters)).toMatchObject({ searches: 1 })
  })

  it("createClient with all three set to false sends each search once", async () => {
    await using world = simulated({ retry: false, throttle: false, cache: false })
    await world.told(({ respondNext }) => respondNext("search", { status: 429 }, { status: 503 }))
    const statuses = [429, 503]
    for (const status of statuses) expect(await rejection(world.advisor.search("oats"))).toMatchObject({ status })
    await Promise.all([world.advisor.search("oats"), world.advisor.search("oats")])
    expect(await world.told(({ counters }) => counters)).toMatchObject({ searches: 4 })
  })

  it.each<readonly [string, Advisor.ClientOptions]>([
    ["cache, retry, throttle", { cache, retry: { base: 1 }, throttle: untilTomorrow }],
    ["throttle, retry, cache", { throttle: untilTomorrow, retry: { base: 1 }, cache }]
  ])("createClient counts a retry against the rate, whatever the order: %s", async (_, options) => {
    await using world = simulated(options)
    await world.told(({ respondNext }) => respondNext("search", { status: 503 }))
    const error = await rejection(world.advisor.search("oats"))
    expect(error).toMatchObject({ _tag: "TooManyRequests" })
    expect(error).toEqual(heldBack)
  })

  it.each<readonly [string, Advisor.ClientOptions]>([
    ["cache, throttle", { cache, throttle: untilTomorrow }],
    ["throttle, cache", { throttle: untilTomorrow, cache }]
  ])("createClient lets a hit of the cache past the rate, whatever the order: %s", async (_, options) => {
    await using world = simulated(options)
    expect(await world.advisor.search("oats")).toEqual(await world.advisor.search("oats"))
    expect(await rejection(world.advisor.search("rice"))).toMatchObject({ _tag: "TooManyRequests" })
  })

  it("createClient with all three still tells the status of the token", async () => {
    await using world = simulated({ retry: true, throttle: true, cache: true })
    await world.advisor.search("oats")
    expect(await world.advisor.status()).toMatchObject({ state: "fresh" })
  })
})

describe("createClient: sharedTokenCache", () => {
  it("createClient: two clients with one sharedTokenCache exchange once", async () => {
    const memory = await Effect.runPromise(Effect.scoped(Layer.build(SharedTokenCache.layerMemory)))
    const sharedTokenCache = Layer.succeedContext(memory)
    await using world = simulated({ sharedTokenCache, cacheTimeout: "2 seconds" })
    await using peer = Advisor.createClient({ ...settings, sharedTokenCache, httpClient: world.httpClient })
    await Promise.all([world.advisor.search("oats"), peer.search("rice")])
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 2 })
  })

  it.each<readonly [string, NonNullable<Advisor.ClientOptions["sharedTokenCache"]>, object]>([
    ["a wrong url", RedisTokenCache.layer({ url: Redacted.make("http://redis") }), { field: "url" }],
    ["a missing variable", RedisTokenCache.layerConfig(), { variable: "NUTRITION_ADVISOR_REDIS_URL" }]
  ])("createClient throws the ConfigurationError of a sharedTokenCache with %s", (_, sharedTokenCache, expected) => {
    vi.stubEnv("NUTRITION_ADVISOR_REDIS_URL", undefined)
    const error = thrownBy(() => Advisor.createClient({ ...settings, sharedTokenCache }))
    expect(error).toMatchObject({ _tag: "ConfigurationError", ...expected })
    expect(error).toHaveProperty("stack", expect.stringMatching(/createClient[^]*thrownBy/))
  })

  it("createClient: a sharedTokenCache that fails later rejects the first call", async () => {
    const error = new Advisor.ConfigurationError({ field: "url" })
    const failsLater = Layer.effect(
      SharedTokenCache.SharedTokenCache,
      Effect.zipRight(Effect.promise(() => Promise.resolve()), Effect.fail(error))
    )
    await using world = simulated({ sharedTokenCache: failsLater })
    expect(await rejection(world.advisor.search("oats"))).toBe(error)
  })

  it("createClient keeps nothing of a sharedTokenCache open before the first call", async () => {
    const open = new Set<number>()
    let builds = 0
    const opened = Effect.sync(() => {
      open.add(builds += 1)
      return builds
    })
    const watched = Layer.scopedDiscard(Effect.acquireRelease(opened, (id) => Effect.sync(() => open.delete(id))))
    const sharedTokenCache = Layer.provide(SharedTokenCache.layerMemory, watched)
    await using world = simulated({ sharedTokenCache })
    expect(open.size).toBe(0)
    await world.advisor.search("oats")
    expect(open.size).toBe(1)
  })
})
