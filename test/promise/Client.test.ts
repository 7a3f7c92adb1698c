import { getEventListeners } from "node:events"
import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import { Undici } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Logger, LogLevel, Redacted, Schema } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  SharedTokenCache
} from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { RedisTokenCache } from "effect-nutrition-advisor/redis"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { afterEach, vi } from "vitest"
import { z } from "zod"
import { testLive } from "../doubles/arranged.js"
import * as Wire from "../doubles/Wire.js"
import { simulated } from "./simulated.js"

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => expect.fail(`resolved with ${inspect(value)}`), (reason: unknown) => reason)

const thrownBy = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return expect.fail("nothing was thrown")
}

const aborted = (operation: "search" | "request") =>
  new NutritionAdvisorError.TransportError({ operation, reason: "Aborted" })

const key = Redacted.value(Simulator.licenseKey)

const settings = { baseUrl: Simulator.baseUrl, licenseKey: key }

const doubled = (search: (term: string) => Effect.Effect<unknown, Advisor.NutritionAdvisorError>) =>
  Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))

/** What a search does that ends only with its caller, and how often that happened. */
const hanging = () => {
  const left = vi.fn()
  return { left, search: () => Effect.onInterrupt(Effect.never, () => Effect.sync(left)) }
}

/** A port that gives tokens, and one food for each search. */
const serveFoods = Wire.serve((request, response) => {
  const token = { access_token: "token", expires_in: 3600, customer_id: "customer" }
  Wire.replying(JSON.stringify(request.url?.includes("/oauth/") === true ? token : { results: ["oats"] }))(
    request,
    response
  )
})

const found = { results: ["oats"] }

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it("The module exports the constructors, and all that the library has for its errors", () => {
  const { createClient, fromLayer, ...others } = Advisor
  expect([typeof createClient, typeof fromLayer]).toEqual(["function", "function"])
  expect({ ...others }).toEqual({ ...NutritionAdvisorError })
})

describe("createClient", () => {
  it.each<readonly [string, Partial<Advisor.ClientOptions>]>([
    ["baseUrl", { baseUrl: "http://nutrition.example" }],
    ["licenseKey", { licenseKey: " " }],
    ["licenseKey", JSON.parse("{\"licenseKey\":null}")],
    ["licenseKey", { licenseKey: Redacted.make("<your key>") }],
    ["tokenTimeout", { tokenTimeout: -1 }],
    ["observeHeaders", { observeHeaders: ["set-cookie"] }]
  ])("throws a ConfigurationError at once that names the setting: %s, case %#", (field, wrong) => {
    const error = thrownBy(() => Advisor.createClient({ ...settings, ...wrong }))
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    expect(error).toMatchObject({ field, message: expect.stringContaining(field) })
    expect(error).not.toHaveProperty("variable", expect.anything())
    expect(error).toHaveProperty("stack", expect.stringMatching(/createClient[^]*thrownBy/))
  })

  it.each<readonly [string, string, string | undefined]>([
    ["baseUrl", "NUTRITION_ADVISOR_BASE_URL", undefined],
    ["licenseKey", "NUTRITION_ADVISOR_LICENSE_KEY", undefined],
    ["licenseKey", "NUTRITION_ADVISOR_LICENSE_KEY", "<key>"],
    ["requestTimeout", "NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon"],
    ["maxResponseBytes", "NUTRITION_ADVISOR_MAX_RESPONSE_BYTES", "-5"]
  ])("reads the variables of layerConfig, and names the one that is wrong: %s, case %#", (field, variable, value) => {
    vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl)
    vi.stubEnv("NUTRITION_ADVISOR_LICENSE_KEY", key)
    Advisor.createClient()
    const httpClient = Simulator.layerHttpClient()
    Advisor.createClient({ httpClient })
    Advisor.createClient({ ...{ requestTimeout: undefined } as object })
    vi.stubEnv(variable, value)
    const error = thrownBy(() => Advisor.createClient({ httpClient }))
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    const sentence = new RegExp(`^The setting ${field} \\(${variable}\\) (is|looks|must) .*\\.$`)
    expect(error).toMatchObject({ field, variable, message: expect.stringMatching(sentence) })
  })

  it("builds and sends nothing before the first call, and then once for all calls", async () => {
    await using world = simulated()
    await setImmediate()
    expect(world.builds()).toBe(0)
    await Promise.all(Array.from({ length: 64 }, () => world.advisor.search("oats")))
    expect(world.builds()).toBe(1)
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 64 })
  })

  testLive("sends over the fetch of the process as it is at each call, and past that of Next.js", function*() {
    const { origin } = yield* serveFoods
    const advisor = Advisor.createClient({ baseUrl: origin, licenseKey: "key" })
    const fetched = vi.fn(globalThis.fetch)
    vi.stubGlobal("fetch", fetched)
    expect(yield* Effect.promise(() => advisor.search("oats"))).toEqual(found)
    vi.stubGlobal("fetch", Object.assign(vi.fn(), { _nextOriginalFetch: fetched }))
    expect(yield* Effect.promise(() => advisor.search("oats"))).toEqual(found)
    expect(fetched).toHaveBeenCalledTimes(3)
    yield* Effect.promise(advisor.close)
  })

  testLive("sends through the dispatcher that the process has set for fetch, such as a proxy", function*() {
    const { origin, requests } = yield* serveFoods
    const before = Undici.getGlobalDispatcher()
    const proxy = new Undici.Agent({
      connect: { lookup: (_, __, done) => done(null, [{ address: "127.0.0.1", family: 4 }]) }
    })
    Undici.setGlobalDispatcher(proxy)
    const baseUrl = origin.replace("127.0.0.1", "only-the-proxy-knows.localhost")
    const advisor = Advisor.createClient({ baseUrl, licenseKey: "key" })
    expect(yield* Effect.promise(() => advisor.search("oats").finally(() => Undici.setGlobalDispatcher(before))))
      .toEqual(found)
    expect(requests).toHaveLength(2)
    yield* Effect.promise(() => Promise.all([advisor.close(), proxy.close()]))
  })

  it("logs a failed exchange on standard error", async () => {
    const stdout = vi.spyOn(console, "log").mockReturnValue()
    const stderr = vi.spyOn(console, "error").mockReturnValue()
    await using world = simulated({ licenseKey: "unknown-key" })
    await rejection(world.advisor.search("oats"))
    expect(stdout).not.toHaveBeenCalled()
    expect(stderr.mock.calls).toEqual([[expect.stringContaining("The license key could not be exchanged.")]])
    expect(String(stderr.mock.calls)).not.toContain("unknown-key")
  })
})

describe("the function of the license key", () => {
  it("is called at each exchange, and may give a text or a Redacted one, at once or later", async () => {
    const keys = [key, Promise.resolve(key), Simulator.licenseKey, Promise.resolve(Simulator.licenseKey)]
    let calls = 0
    await using world = simulated({ licenseKey: () => keys[calls++] ?? key, refresh: { coolDown: 1 } })
    for (const _ of keys) {
      await world.advisor.search("oats")
      await world.told(({ revoke }) => revoke)
    }
    expect(calls).toBe(4)
  })

  const secret = "secret-of-the-vault"

  it.each<readonly [string, () => string | Promise<string>]>([
    ["throws", () => {
      throw new Error(secret)
    }],
    ["rejects with a text", () => Promise.reject(secret)],
    ["gives a blank text", () => Promise.resolve("")],
    ["gives nothing", () => JSON.parse("null")],
    ["gives a text with a line break", () => `${secret}\n`]
  ])("ends calls in LicenseKeyUnavailable that repeats nothing where it %s", async (_, licenseKey) => {
    await using world = simulated({ licenseKey })
    vi.spyOn(console, "error").mockReturnValue()
    const error = await rejection(world.advisor.search("oats"))
    expect(error).toBeInstanceOf(Advisor.LicenseKeyUnavailable)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret)
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 0 })
  })

  it("may throw a LicenseKeyUnavailable of its own that says why", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    const error = new Advisor.LicenseKeyUnavailable({ detail: "the vault is sealed" })
    await using world = simulated({ licenseKey: () => Promise.reject(error) })
    expect(await rejection(world.advisor.search("oats"))).toStrictEqual(error)
  })
})

describe("a promise", () => {
  const failure = new Advisor.ServerError({ operation: "search", status: 503, retryAfter: 5 })

  it("rejects with the error itself, whose stack names who called and nothing of the runtime", async () => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(failure))
    const whoCalls = async () => {
      await advisor.search("oats")
    }
    expect(await rejection(advisor.fetch("/v2/diary"))).toBe(failure)
    expect(await rejection(whoCalls())).toBe(failure)
    expect(failure.stack).toMatch(/ at (async )?whoCalls \(.*Client\.test\.ts:\d+/)
    expect(failure.stack).not.toMatch(/node_modules\/effect|[fF]iber|src\//)
  })

  it("rejects each caller with an error of its own, though many wait for one exchange: what one writes on it no other sees", async () => {
    await using world = simulated({ refresh: { attempts: 1 } })
    vi.spyOn(console, "error").mockReturnValue()
    await world.told(({ respondNext }) => respondNext("token", { status: 503, body: { busy: true } }))
    const search = () => rejection(world.advisor.search("oats"))
    const [first, second] = await Promise.all([search(), search()])
    Object.assign(first as object, { message: "of the first", name: "First", user: "first" })
    const inBackoff = await search()
    expect(new Set([first, second, inBackoff]).size).toBe(3)
    for (const error of [second, inBackoff]) {
      expect(error).toBeInstanceOf(Advisor.ServerError)
      expect(error).toMatchObject({ message: expect.stringContaining("503"), operation: "token", status: 503 })
      expect(error).not.toHaveProperty("user")
    }
  })

  it("rejects with an error whose message a structured clone keeps, as between threads", async () => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(failure))
    const error = await rejection(advisor.search("oats"))
    expect(structuredClone(error)).toHaveProperty("message", expect.stringMatching(/failed with status/))
  })

  const thrown = Object.freeze({ what: "a part of the user's threw" })

  it.each<readonly [string, () => Effect.Effect<never, Advisor.NutritionAdvisorError>, object]>([
    ["fails with in a span", () => Effect.withSpan(Effect.fail(failure), "outside"), failure],
    ["dies of in a span", () => Effect.withSpan(Effect.die(thrown), "outside"), thrown]
  ])("rejects with what a part %s", async (_, search, reason) => {
    await using advisor = doubled(search)
    expect(await rejection(advisor.search("oats"))).toBe(reason)
  })

  it("rejects with what building the layer ends in, for each call", async () => {
    const error = new Advisor.ConfigurationError({ field: "connections" })
    await using advisor = Advisor.createClient({ ...settings, httpClient: Layer.fail(error) })
    expect(await rejection(advisor.search("oats"))).toBe(error)
    expect(await rejection(advisor.fetch("/v2/diary"))).toBe(error)
  })
})

describe("search and searchAs", () => {
  it("hand query parameters and headers on", async () => {
    await using world = simulated()
    const options = { urlParams: { page: 2 }, headers: { "x-a": "1" } }
    await Promise.all([world.advisor.search("oats", options), world.advisor.searchAs(Schema.Unknown)("oats", options)])
    const seen = (await world.told(({ requests }) => requests)).slice(1)
    expect(seen).toMatchObject(Array(2).fill({ query: "term=oats&page=2", headers: { "x-a": "1" } }))
  })

  it("decode with a schema of effect and with one of another library", async () => {
    await using advisor = doubled(() => Effect.succeed({ total: "3" }))
    const ofEffect = advisor.searchAs(Schema.Struct({ total: Schema.NumberFromString }))
    const ofZod = advisor.searchAs(z.object({ total: z.string().transform(Number) }))
    expect([await ofEffect("oats"), await ofZod("oats")]).toEqual([{ total: 3 }, { total: 3 }])
    expect(await rejection(advisor.searchAs(z.object({ total: z.number() }))("oats"))).toMatchObject({
      reason: "Schema"
    })
  })
})

describe("fromLayer", () => {
  it("gives each call the loggers and the log level of the layer, the first and those after it", async () => {
    const lines: Array<unknown> = []
    const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message)))
    const layer = NutritionAdvisorTest.layer({ search: (term) => Effect.as(Effect.logDebug(term), {}) })
    await using advisor = Advisor.fromLayer(Layer.mergeAll(layer, logger, Logger.minimumLogLevel(LogLevel.Debug)))
    await advisor.search("first")
    await advisor.search("second")
    expect(lines.flat()).toEqual(["first", "second"])
  })

  it("rejects with a ConfigurationError that names a variable of the layer that is not set, once", async () => {
    await using world = simulated()
    const cache = RedisTokenCache.layerConfig()
    await using advisor = Advisor.fromLayer(
      NutritionAdvisor.layerShared({ ...settings, licenseKey: Simulator.licenseKey }).pipe(
        Layer.provide([cache, world.httpClient])
      )
    )
    expect(await rejection(advisor.search("oats"))).toMatchObject({
      _tag: "ConfigurationError",
      message: "The setting NUTRITION_ADVISOR_REDIS_URL is not set."
    })
  })

  it("takes any composition", async () => {
    await using world = simulated()
    const { httpClient } = world
    const layer = SearchCache.layer({ timeToLive: "1 hour" }).pipe(
      Layer.provide(RequestRetry.layer({ base: "1 millis" })),
      Layer.provideMerge(NutritionAdvisor.layerShared({ ...settings, licenseKey: Simulator.licenseKey })),
      Layer.provide([SharedTokenCache.layerMemory, httpClient])
    )
    await using advisor = Advisor.fromLayer(layer)
    await world.told(({ respondNext }) => respondNext("search", { status: 503 }))
    expect(await advisor.search("oats")).toEqual(await advisor.search("oats"))
    expect(await world.told(({ counters }) => counters)).toMatchObject({ searches: 2 })
    expect((await advisor.status()).state).toBe("fresh")
  })

  it("rejects in a ConfigurationError where a variable of the layer is missing or wrong, which repeats no value", async () => {
    const rejected = (layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>) =>
      rejection(
        Advisor.fromLayer(Layer.provide(layer, Layer.setConfigProvider(ConfigProvider.fromEnv()))).search("oats")
      )
    const configured = Layer.provide(NutritionAdvisor.layerConfig(), Simulator.layerHttpClient())
    vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl)
    const variable = "NUTRITION_ADVISOR_LICENSE_KEY"
    expect(await rejected(configured)).toMatchObject({ _tag: "ConfigurationError", field: "licenseKey", variable })
    vi.stubEnv(variable, key)
    vi.stubEnv("NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon")
    expect(await rejected(configured)).toMatchObject({ _tag: "ConfigurationError", field: "requestTimeout" })
    vi.stubEnv("WRONG", key)
    const own = Layer.unwrapEffect(Effect.as(Config.integer("WRONG"), configured))
    expect(await rejected(own)).toMatchObject({ variable: "WRONG", message: expect.not.stringContaining(key) })
  })
})

describe("status", () => {
  it("says what is known of the token", async () => {
    await using world = simulated()
    expect(await world.advisor.status()).toMatchObject({ state: "none" })
    await world.advisor.search("oats")
    expect(await world.advisor.status()).toMatchObject({ state: "fresh", expiresAt: { value: expect.any(Number) } })
  })

  it("is none where the layer gives no TokenProvider", async () => {
    await using advisor = doubled(() => Effect.never)
    expect(await advisor.status()).toMatchObject({ state: "none" })
  })
})

describe("a signal", () => {
  const reason = new Error("the caller has left")

  it("that was aborted before sends nothing, and wins over anything else that is wrong", async () => {
    await using world = simulated()
    const signal = AbortSignal.abort(reason)
    const { fetch, search, searchAs } = world.advisor
    const calls = [
      search(" ", { signal }),
      searchAs(Schema.Never)("oats", { signal }),
      fetch("//elsewhere.example", { signal })
    ]
    expect(await Promise.all(calls.map(rejection))).toEqual(Array(3).fill(reason))
    expect(world.builds()).toBe(0)
  })

  it("rejects its calls with its reason, and ends what runs", async () => {
    const { left, search } = hanging()
    await using advisor = doubled(search)
    const controller = new AbortController()
    const { signal } = controller
    const calls = ["oats", "rice"].map((term) => rejection(advisor.search(term, { signal })))
    await setImmediate()
    controller.abort(reason)
    expect(await Promise.all(calls)).toEqual([reason, reason])
    expect(left).toHaveBeenCalledTimes(2)
    const timeout = await rejection(advisor.search("oats", { signal: AbortSignal.timeout(1) }))
    expect(timeout).toMatchObject({ name: "TimeoutError" })
  })

  it("aborted while the layer is built leaves the build to the others", async () => {
    const slow = Layer.effectDiscard(Effect.promise(() => setImmediate()))
    await using advisor = Advisor.fromLayer(
      Layer.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed(1) }), slow)
    )
    const controller = new AbortController()
    const leaving = rejection(advisor.search("oats", { signal: controller.signal }))
    const staying = advisor.search("oats")
    controller.abort(reason)
    expect(await Promise.all([leaving, staying])).toEqual([reason, 1])
  })

  it("keeps no listener of calls that have ended, and no number of calls is warned of", async () => {
    const warn = vi.fn()
    process.on("warning", warn)
    const { signal } = new AbortController()
    await using world = simulated()
    await Promise.all(Array.from({ length: 100 }, () => world.advisor.search("oats", { signal })))
    await rejection(world.advisor.search("", { signal }))
    await world.advisor.fetch("/v2/products/napi/food/search/semantic?term=a", { signal })
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    await setImmediate()
    process.off("warning", warn)
    expect(warn).not.toHaveBeenCalled()
  })
})

describe("close", () => {
  it("ends calls under way in TransportError, and all calls after it", async () => {
    await using world = simulated()
    await world.advisor.search("oats")
    await world.told(({ setLatency }) => setLatency("search", "1 hour"))
    const call = () =>
      [
        world.advisor.search("oats"),
        world.advisor.fetch("/v2/products/napi/food/search/semantic?term=a"),
        world.advisor.searchAs(z.unknown())("oats")
      ].map(rejection)
    const underWay = call()
    await setImmediate()
    await world.advisor.close()
    const errors = [aborted("search"), aborted("request"), aborted("search")]
    expect(await Promise.all(underWay)).toEqual(errors)
    expect(await Promise.all(call())).toEqual(errors)
  })

  it("ends calls that wait for the layer, and what builds it", async () => {
    const { left, search } = hanging()
    const advisor = Advisor.fromLayer(Layer.provide(NutritionAdvisorTest.layer({}), Layer.effectDiscard(search())))
    const call = rejection(advisor.search("oats"))
    await setImmediate()
    await advisor.close()
    expect(await call).toEqual(aborted("search"))
    expect(left).toHaveBeenCalledTimes(1)
  })

  it("is what await using calls, lets the calls end, then closes the layer, once", async () => {
    const events: Array<string> = []
    const note = (event: string) =>
      Effect.zipRight(Effect.promise(() => setImmediate()), Effect.sync(() => events.push(event)))
    const search = () => Effect.onInterrupt(Effect.never, () => note("search"))
    const scope = Layer.scopedDiscard(Effect.addFinalizer(() => note("layer")))
    const calls: Array<Promise<unknown>> = []
    {
      await using advisor = Advisor.fromLayer(Layer.merge(NutritionAdvisorTest.layer({ search }), scope))
      calls.push(rejection(advisor.search("oats")))
      await setImmediate()
      await Promise.all([advisor.close(), advisor.close()])
    }
    expect(events).toEqual(["search", "layer"])
    expect(await Promise.all(calls)).toEqual([aborted("search")])
  })
})
