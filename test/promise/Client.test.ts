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
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { rejection } from "./outcomes.js"
import { simulated } from "./simulated.js"

const key = Redacted.value(Simulator.licenseKey)

const settings = { baseUrl: Simulator.baseUrl, licenseKey: key }

const doubled = (search: (term: string) => Effect.Effect<unknown, Advisor.NutritionAdvisorError>) =>
  Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))

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

it("effect-nutrition-advisor/promise exports the constructors and everything about errors", () => {
  const { createClient, fromLayer, ...others } = Advisor
  expect([typeof createClient, typeof fromLayer]).toEqual(["function", "function"])
  expect({ ...others }).toEqual({ ...NutritionAdvisorError })
})

describe("createClient", () => {
  it("createClient builds its layer at the first call, once for all calls", async () => {
    await using world = simulated()
    await setImmediate()
    expect(world.builds()).toBe(0)
    await Promise.all(Array.from({ length: 64 }, () => world.advisor.search("oats")))
    expect(world.builds()).toBe(1)
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 64 })
  })

  testLive(
    "createClient sends with the fetch that the process has at each call, bypassing that of Next.js",
    function*() {
      const { origin } = yield* serveFoods
      const advisor = Advisor.createClient({ baseUrl: origin, licenseKey: "key" })
      const fetched = vi.fn(globalThis.fetch)
      vi.stubGlobal("fetch", fetched)
      expect(yield* Effect.promise(() => advisor.search("oats"))).toEqual(found)
      vi.stubGlobal("fetch", Object.assign(vi.fn(), { _nextOriginalFetch: fetched }))
      expect(yield* Effect.promise(() => advisor.search("oats"))).toEqual(found)
      expect(fetched).toHaveBeenCalledTimes(3)
      yield* Effect.promise(advisor.close)
    }
  )

  testLive(
    "createClient sends through the dispatcher that the process has set for fetch, such as a proxy",
    function*() {
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
    }
  )
})

describe("licenseKey", () => {
  it("a licenseKey function is called for each exchange, and returns a string, a Redacted or a promise", async () => {
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
    ["rejects with a string", () => Promise.reject(secret)],
    ["returns a blank string", () => Promise.resolve("")],
    ["returns null", () => JSON.parse("null")],
    ["returns a string with a line break", () => `${secret}\n`]
  ])(
    "a licenseKey function that %s fails the call with LicenseKeyUnavailable, which repeats nothing",
    async (_, licenseKey) => {
      await using world = simulated({ licenseKey })
      vi.spyOn(console, "error").mockReturnValue()
      const error = await rejection(world.advisor.search("oats"))
      expect(error).toBeInstanceOf(Advisor.LicenseKeyUnavailable)
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret)
      expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 0 })
    }
  )

  it("a licenseKey function can throw a LicenseKeyUnavailable that says why", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    const error = new Advisor.LicenseKeyUnavailable({ detail: "the vault is sealed" })
    await using world = simulated({ licenseKey: () => Promise.reject(error) })
    expect(await rejection(world.advisor.search("oats"))).toStrictEqual(error)
  })
})

describe("rejections", () => {
  const failure = new Advisor.ServerError({ operation: "search", status: 503, retryAfter: 5 })

  it("a promise rejects with the error itself, whose stack names the caller and nothing of the runtime", async () => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(failure))
    const whoCalls = async () => {
      await advisor.search("oats")
    }
    expect(await rejection(advisor.fetch("/v2/diary"))).toBe(failure)
    expect(await rejection(whoCalls())).toBe(failure)
    expect(failure.stack).toMatch(/ at (async )?whoCalls \(.*Client\.test\.ts:\d+/)
    expect(failure.stack).not.toMatch(/node_modules\/effect|[fF]iber|src\//)
  })

  it("callers that wait for one exchange each get their own error object", async () => {
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

  it("a promise rejects with an error whose message survives structuredClone", async () => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(failure))
    const error = await rejection(advisor.search("oats"))
    expect(structuredClone(error)).toHaveProperty("message", expect.stringMatching(/failed with status/))
  })

  const thrown = Object.freeze({ what: "a part of the user's threw" })

  it.each<readonly [string, () => Effect.Effect<never, Advisor.NutritionAdvisorError>, object]>([
    ["fails with", () => Effect.withSpan(Effect.fail(failure), "outside"), failure],
    ["dies with", () => Effect.withSpan(Effect.die(thrown), "outside"), thrown]
  ])("a promise rejects with what the search of a custom layer %s", async (_, search, reason) => {
    await using advisor = doubled(search)
    expect(await rejection(advisor.search("oats"))).toBe(reason)
  })

  it("each call rejects with the error of a layer that cannot be built", async () => {
    const error = new Advisor.ConfigurationError({ field: "connections" })
    await using advisor = Advisor.createClient({ ...settings, httpClient: Layer.fail(error) })
    expect(await rejection(advisor.search("oats"))).toBe(error)
    expect(await rejection(advisor.fetch("/v2/diary"))).toBe(error)
  })
})

describe("search and searchAs", () => {
  it("search and searchAs send query parameters and headers", async () => {
    await using world = simulated()
    const options = { urlParams: { page: 2 }, headers: { "x-a": "1" } }
    await Promise.all([world.advisor.search("oats", options), world.advisor.searchAs(Schema.Unknown)("oats", options)])
    const seen = (await world.told(({ requests }) => requests)).slice(1)
    expect(seen).toMatchObject(Array(2).fill({ query: "term=oats&page=2", headers: { "x-a": "1" } }))
  })

  it("searchAs decodes with a schema of effect or zod", async () => {
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
  it("fromLayer gives the first call and later ones the loggers and log level of the layer", async () => {
    const lines: Array<unknown> = []
    const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message)))
    const layer = NutritionAdvisorTest.layer({ search: (term) => Effect.as(Effect.logDebug(term), {}) })
    await using advisor = Advisor.fromLayer(Layer.mergeAll(layer, logger, Logger.minimumLogLevel(LogLevel.Debug)))
    await advisor.search("first")
    await advisor.search("second")
    expect(lines.flat()).toEqual(["first", "second"])
  })

  it("fromLayer rejects with a ConfigurationError that names a missing variable of the layer once", async () => {
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

  it("fromLayer runs a composition of cache, retry and a shared token", async () => {
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

  it("fromLayer rejects with a ConfigurationError that repeats no value of a variable", async () => {
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
  it("status tells the state of the token", async () => {
    await using world = simulated()
    expect(await world.advisor.status()).toMatchObject({ state: "none" })
    await world.advisor.search("oats")
    expect(await world.advisor.status()).toMatchObject({ state: "fresh", expiresAt: { value: expect.any(Number) } })
  })

  it("status is none if the layer has no TokenProvider", async () => {
    await using advisor = doubled(() => Effect.never)
    expect(await advisor.status()).toMatchObject({ state: "none" })
  })
})
