import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import { expect, it, vi } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Option, Redacted, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { z } from "zod"
import { tokenStatusOf } from "../../src/internal/token/status.js"
import { testLive } from "../support/doubles/arranged.js"
import * as Wire from "../support/doubles/Wire.js"
import { clientWithSearch, key, settings, simulatedClient } from "./simulatedClient.js"

const found = { results: ["oats"] }

/** A service that responds with one food to each search. */
const serveFoods = Wire.serveAdvisor({ data: Wire.replying(JSON.stringify(found)) })

it("effect-nutrition-advisor/promise: it exports createClient, fromLayer and all of NutritionAdvisorError", () => {
  const { createClient, fromLayer, ...others } = Advisor
  expect(typeof createClient).toBe("function")
  expect(typeof fromLayer).toBe("function")
  expect({ ...others }).toEqual({ ...NutritionAdvisorError })
})

it("createClient: the layer is built once, at the first call", async () => {
  await using world = simulatedClient()
  await setImmediate()
  expect(world.builds()).toBe(0)
  await Promise.all(Array.from({ length: 64 }, () => world.advisor.search("oats")))
  expect(world.builds()).toBe(1)
  expect(await world.run(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 64 })
})

testLive.each<readonly [string, (fetch: typeof globalThis.fetch) => typeof globalThis.fetch]>([
  ["the global fetch of that moment", (fetch) => fetch],
  ["the original fetch if Next.js has patched it", (fetch) => Object.assign(vi.fn(), { _nextOriginalFetch: fetch })]
])("createClient: each call uses %s", function*([, replacement]) {
  const { origin } = yield* serveFoods
  const advisor = Advisor.createClient({ baseUrl: origin, licenseKey: "key" })
  yield* Effect.promise(() => advisor.search("oats"))
  const fetch = vi.fn(globalThis.fetch)
  vi.stubGlobal("fetch", replacement(fetch))
  expect(yield* Effect.promise(() => advisor.search("oats"))).toEqual(found)
  expect(fetch).toHaveBeenCalledTimes(1)
  yield* Effect.promise(advisor.close)
})

it("options of a call: null counts as none", async () => {
  await using world = simulatedClient()
  const { fetch, search, searchAs } = world.advisor
  const payload = await search("oats", JSON.parse("null"))
  expect(await search("oats", JSON.parse("{\"signal\":null,\"timeout\":null,\"headers\":null,\"urlParams\":null}")))
    .toEqual(payload)
  expect(await searchAs(Schema.Unknown)("oats", JSON.parse("null"))).toEqual(payload)
  expect(await (await fetch("/v2/products/napi/food/search/semantic?term=oats", JSON.parse("null"))).json()).toEqual(
    payload
  )
})

it("licenseKey: a function is called at each exchange, whether it returns a string, a Redacted or a promise", async () => {
  const keys = [key, Promise.resolve(key), Simulator.licenseKey, Promise.resolve(Simulator.licenseKey)]
  let calls = 0
  await using world = simulatedClient({ licenseKey: () => keys[calls++] ?? key, refresh: { coolDown: 1 } })
  for (const _ of keys) {
    await world.advisor.search("oats")
    await world.run(({ revoke }) => revoke)
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
  "licenseKey: a function that %s fails the call with a LicenseKeyUnavailable that contains no secret",
  async (_, licenseKey) => {
    await using world = simulatedClient({ licenseKey })
    vi.spyOn(console, "error").mockReturnValue()
    const error = await world.advisor.search("oats").catch((error: unknown) => error)
    expect(error).toBeInstanceOf(Advisor.LicenseKeyUnavailable)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret)
    expect(await world.run(({ counters }) => counters)).toMatchObject({ exchanges: 0 })
  }
)

it("licenseKey: a call rejects with the LicenseKeyUnavailable that the function throws", async () => {
  vi.spyOn(console, "error").mockReturnValue()
  const error = new Advisor.LicenseKeyUnavailable({ detail: "the vault is sealed" })
  await using world = simulatedClient({ licenseKey: () => Promise.reject(error) })
  await expect(world.advisor.search("oats")).rejects.toStrictEqual(error)
})

const failure = new Advisor.ServerError({ operation: "search", status: 503, retryAfter: 5 })

it("rejection: Node prints the error with its message, the caller and its fields, without the runtime's frames", async () => {
  const error = new Advisor.ServerError({ operation: "search", status: 503, body: Redacted.make("secret") })
  await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(error))
  const callingFunction = async () => {
    await advisor.search("oats")
  }
  await expect(callingFunction()).rejects.toBe(error)
  const printed = inspect(error)
  expect(printed).toMatch(
    /^ServerError: The search failed[^]* at (?:async )?callingFunction \(.*Client\.test\.ts:\d+[^]*status: 503,[^]*body: /
  )
  expect(printed).not.toMatch(/secret|node_modules\/effect|[fF]iber|src\//)
})

it("rejection: structuredClone keeps the message of the error", async () => {
  await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(failure))
  const error = await advisor.search("oats").catch((error: unknown) => error)
  expect(structuredClone(error)).toHaveProperty("message", expect.stringMatching(/failed with status/))
})

const thrown = Object.freeze({ what: "a defect of the user's code" })

it.each<readonly [string, () => Effect.Effect<never, Advisor.NutritionAdvisorError>, object]>([
  ["fails", () => Effect.withSpan(Effect.fail(failure), "outside"), failure],
  ["dies", () => Effect.withSpan(Effect.die(thrown), "outside"), thrown]
])(
  "rejection: a search rejects with the failure or defect if the search of a custom layer %s",
  async (_, search, reason) => {
    await using advisor = clientWithSearch(search)
    await expect(advisor.search("oats")).rejects.toBe(reason)
  }
)

it("rejection: each call rejects with the error of a layer that can't be built", async () => {
  const error = new Advisor.ConfigurationError({ field: "connections" })
  await using advisor = Advisor.createClient({ ...settings, httpClient: Layer.fail(error) })
  await expect(advisor.search("oats")).rejects.toBe(error)
  await expect(advisor.fetch("/v2/diary")).rejects.toBe(error)
})

it("searchAs: it decodes with an Effect Schema or a zod schema", async () => {
  await using advisor = clientWithSearch(() => Effect.succeed({ total: "3" }))
  const ofEffect = advisor.searchAs(Schema.Struct({ total: Schema.NumberFromString }))
  const ofZod = advisor.searchAs(z.object({ total: z.string().transform(Number) }))
  expect(await ofEffect("oats")).toEqual({ total: 3 })
  expect(await ofZod("oats")).toEqual({ total: 3 })
})

it("fromLayer: the error of an invalid variable names the variable but not its value", async () => {
  const searchWith = (layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>) =>
    Advisor.fromLayer(Layer.provide(layer, Layer.setConfigProvider(ConfigProvider.fromEnv()))).search("oats")
  const configured = Layer.provide(NutritionAdvisor.layerConfig(), Simulator.layerHttpClient())
  vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl)
  vi.stubEnv("NUTRITION_ADVISOR_LICENSE_KEY", key)
  vi.stubEnv("NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon")
  await expect(searchWith(configured)).rejects.toMatchObject({ _tag: "ConfigurationError", field: "requestTimeout" })
  vi.stubEnv("WRONG", key)
  const own = Layer.unwrapEffect(Effect.as(Config.integer("WRONG"), configured))
  await expect(searchWith(own)).rejects.toMatchObject({ variable: "WRONG", message: expect.not.stringContaining(key) })
})

it("status: the state is none without a TokenProvider, even if a caller has modified an earlier status", async () => {
  await using advisor = clientWithSearch(() => Effect.never)
  const none = tokenStatusOf(Option.none(), Option.none())
  const status = await advisor.status()
  expect(status).toEqual(none)
  Object.assign(status, { state: "fresh" })
  expect(await advisor.status()).toEqual(none)
})
