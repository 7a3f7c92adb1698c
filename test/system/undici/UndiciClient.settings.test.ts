import { HttpClient } from "@effect/platform"
import { Pool } from "@effect/platform-node/Undici"
import { describe, expect } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { vi } from "vitest"
import { test, testLive } from "../../support/doubles/arranged.js"
import { replying, serve } from "../../support/doubles/Wire.js"

const durations = ["keepAliveTimeout", "connectTimeout", "headersTimeout", "bodyTimeout"] as const

const wrong: ReadonlyArray<readonly [field: string, options: UndiciClient.Options]> = [
  ...durations.flatMap((field) => [[field, { [field]: 0 }], [field, { [field]: 2 ** 31 }]] as const),
  ["connections", { connections: 1.5 }],
  ["maxResponseBytes", { maxResponseBytes: 0 }],
  ["undici", { undici: { factory: 5 as never } }]
]

const from = (values: Readonly<Record<string, string>>) =>
  Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))

const building = (layer: Layer.Layer<HttpClient.HttpClient, unknown>, values: Readonly<Record<string, string>> = {}) =>
  Effect.flip(Layer.build(Layer.provide(layer, from(values))))

describe("UndiciClient: settings", () => {
  test.each(wrong)("make rejects an invalid value of `%s`: %j", function*([field, options]) {
    expect(yield* Effect.flip(UndiciClient.make(options))).toMatchObject({ _tag: "ConfigurationError", field })
  })
})

testLive(
  "UndiciClient: a runtime whose undici has an empty Agent, such as Bun, is rejected with an error that names another client",
  function*() {
    vi.doMock("@effect/platform-node/Undici", () => ({
      Agent: class {
        closed = false
      }
    }))
    const error = yield* Effect.flip(UndiciClient.make())
    vi.doUnmock("@effect/platform-node/Undici")
    expect(error).toMatchObject({ _tag: "ConfigurationError", field: "httpClient" })
    expect(error.message).toContain("use FetchHttpClient.layer")
  }
)

/** What undici is given for an origin. */
const givenToUndici = (options: UndiciClient.Options) =>
  Effect.gen(function*() {
    const wire = yield* serve(replying("{}"))
    let given: object = {}
    const factory = (origin: string | URL, options: object) => {
      given = options
      return new Pool(origin, options)
    }
    const client = yield* UndiciClient.make({ ...options, undici: { factory } })
    yield* Effect.flatMap(client.get(wire.origin), ({ text }) => text)
    return given
  })

describe("UndiciClient: options of undici", () => {
  testLive("without settings, the documented defaults apply", function*() {
    expect(yield* givenToUndici({})).toMatchObject({
      connections: 64,
      keepAliveTimeout: 4_000,
      connect: { timeout: 10_000 },
      headersTimeout: 300_000,
      bodyTimeout: 300_000
    })
  })

  testLive("settings are passed to undici in milliseconds", function*() {
    const given = yield* givenToUndici({
      connections: 3,
      maxResponseBytes: 4,
      keepAliveTimeout: "5 seconds",
      connectTimeout: "6 seconds",
      headersTimeout: "7 seconds",
      bodyTimeout: "8 seconds"
    })
    expect(given).toMatchObject({
      connections: 3,
      maxResponseSize: 4,
      keepAliveTimeout: 5_000,
      connect: { timeout: 6_000 },
      headersTimeout: 7_000,
      bodyTimeout: 8_000
    })
  })
})

describe("UndiciClient.layerConfig", () => {
  test.each<readonly [string, string]>([
    ["NUTRITION_ADVISOR_CONNECTIONS", "many"],
    ["NUTRITION_ADVISOR_CONNECTIONS", "1.5"],
    ["NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT", "a while"]
  ])("%s=%j fails with a ConfigError that names the variable", function*([name, value]) {
    const error = yield* building(UndiciClient.layerConfig(), { [name]: value })
    expect(error).toMatchObject({ _tag: "ConfigError", message: expect.stringContaining("must be ") })
    expect(String(error)).toContain(name)
  })

  test.each<readonly [string, string, string]>([
    ["NUTRITION_ADVISOR_CONNECTIONS", "0", "connections"],
    ["NUTRITION_ADVISOR_KEEP_ALIVE_TIMEOUT", "0 seconds", "keepAliveTimeout"],
    ["NUTRITION_ADVISOR_CONNECT_TIMEOUT", "60 days", "connectTimeout"],
    ["NUTRITION_ADVISOR_HEADERS_TIMEOUT", "0 seconds", "headersTimeout"],
    ["NUTRITION_ADVISOR_BODY_TIMEOUT", "-1 seconds", "bodyTimeout"]
  ])("%s=%s fails with a ConfigurationError", function*([name, value, field]) {
    const error = yield* building(UndiciClient.layerConfig(), { [name]: value })
    expect(error).toMatchObject({ _tag: "ConfigurationError", field })
  })

  test.each(["CONNECTIONS", "KEEP_ALIVE_TIMEOUT", "CONNECT_TIMEOUT", "HEADERS_TIMEOUT", "BODY_TIMEOUT"])(
    "a blank NUTRITION_ADVISOR_%s means the default",
    function*(name) {
      yield* Layer.build(Layer.provide(UndiciClient.layerConfig(), from({ [`NUTRITION_ADVISOR_${name}`]: "  " })))
    }
  )

  test("a given Config overrides its variable, and the other variables are still read", function*() {
    const layer = UndiciClient.layerConfig({ connections: Config.succeed(3) })
    const values = { NUTRITION_ADVISOR_CONNECTIONS: "0", NUTRITION_ADVISOR_BODY_TIMEOUT: "0 seconds" }
    expect(yield* building(layer, values)).toMatchObject({ field: "bodyTimeout" })
  })

  testLive.each<readonly [string, Layer.Layer<HttpClient.HttpClient, unknown>]>([
    ["a variable", UndiciClient.layerConfig()],
    ["a custom Config", UndiciClient.layerConfig({ connections: Config.integer("POOL") })]
  ])("%s sets the number of connections", function*([, layer]) {
    const wire = yield* serve((_, response) => {
      setTimeout(() => response.end("{}"), 20)
    })
    const got = Effect.flatMap(HttpClient.get(wire.origin), ({ text }) => text)
    yield* Effect.replicateEffect(got, 20, { concurrency: "unbounded" }).pipe(
      Effect.provide(Layer.provide(layer, from({ NUTRITION_ADVISOR_CONNECTIONS: "3", POOL: "3" })))
    )
    expect(wire.connections.opened).toBe(3)
  })
})

describe("UndiciClient.make", () => {
  testLive("make does not connect before the first request", function*() {
    const wire = yield* serve(replying("{}"))
    yield* UndiciClient.make()
    yield* Effect.sleep("50 millis")
    expect(wire.connections.opened).toBe(0)
  })
})
