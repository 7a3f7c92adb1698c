import { buildConnector, Pool } from "@effect/platform-node/Undici"
import { expect, vi } from "@effect/vitest"
import { ConfigProvider, Effect, Either, Layer } from "effect"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { test, testLive } from "../../support/doubles/arranged.js"
import { replying, serve } from "../../support/doubles/Wire.js"

const durations = ["keepAliveTimeout", "connectTimeout", "headersTimeout", "bodyTimeout"] as const

const wrong: ReadonlyArray<readonly [field: string, options: UndiciClient.Options]> = [
  ...durations.flatMap((field) => [[field, { [field]: 0 }], [field, { [field]: 2 ** 31 }]] as const),
  ["connections", { connections: 1.5 }],
  ["maxResponseBytes", { maxResponseBytes: 0 }],
  ["undici", { undici: { factory: 5 as never } }]
]

test.each(wrong)("UndiciClient.make: it rejects an invalid value of `%s`: %j", function*([field, options]) {
  expect(yield* Effect.flip(UndiciClient.make(options))).toMatchObject({ _tag: "ConfigurationError", field })
})

/** What undici is given for an origin. */
const givenToUndici = (options: UndiciClient.Options) =>
  Effect.gen(function*() {
    const wire = yield* serve(replying("{}"))
    let given: object = {}
    const factory = (origin: string | URL, options: object) => {
      given = options
      return new Pool(origin, options)
    }
    const client = yield* UndiciClient.make({ ...options, undici: { ...options.undici, factory } })
    yield* Effect.flatMap(client.get(wire.origin), ({ text }) => text)
    return given
  })

const connector = buildConnector({})

testLive.each<readonly [title: string, options: UndiciClient.Options, given: object]>([
  ["settings are passed in milliseconds", {
    connections: 3,
    maxResponseBytes: 4,
    keepAliveTimeout: "5 seconds",
    connectTimeout: "6 seconds",
    headersTimeout: "7 seconds",
    bodyTimeout: "8 seconds"
  }, {
    connections: 3,
    maxResponseSize: 4,
    keepAliveTimeout: 5_000,
    connect: { timeout: 6_000 },
    headersTimeout: 7_000,
    bodyTimeout: 8_000
  }],
  [
    "options for connections are added to connectTimeout",
    { connectTimeout: "6 seconds", undici: { connect: { rejectUnauthorized: true } } },
    { connect: { timeout: 6_000, rejectUnauthorized: true } }
  ],
  ["a custom connector replaces connectTimeout", { undici: { connect: connector } }, { connect: connector }]
])("UndiciClient: options of undici: %s", function*([, options, given]) {
  expect(yield* givenToUndici(options)).toMatchObject(given)
})

const only = (variable: string, value: string) => ConfigProvider.fromMap(new Map([[variable, value]]))

test.each<readonly [string, string, string]>([
  ["NUTRITION_ADVISOR_CONNECTIONS", "0", "connections"],
  ["NUTRITION_ADVISOR_CONNECT_TIMEOUT", "60 days", "connectTimeout"]
])("UndiciClient.layerConfig: %s=%s fails with a ConfigurationError", function*([name, value, field]) {
  const error = yield* Effect.flip(
    Effect.withConfigProvider(Layer.build(UndiciClient.layerConfig()), only(name, value))
  )
  expect(error).toMatchObject({ _tag: "ConfigurationError", field })
})

testLive("UndiciClient.make: it does not connect before the first request", function*() {
  const wire = yield* serve(replying("{}"))
  yield* UndiciClient.make()
  yield* Effect.sleep("50 millis")
  expect(wire.connections.opened).toBe(0)
})

/** A client that is made while the module of undici is this one. */
const madeWith = (undici: () => Record<string, unknown>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.doMock("@effect/platform-node/Undici", undici)),
    () => Effect.scoped(Effect.either(UndiciClient.make())),
    () => Effect.sync(() => vi.doUnmock("@effect/platform-node/Undici"))
  )

test("UndiciClient: undici is found if only `default` has its exports, as in a Rollup bundle", function*() {
  const undici = yield* Effect.promise(() => vi.importActual("@effect/platform-node/Undici"))
  expect(Either.isRight(yield* madeWith(() => ({ default: undici })))).toBe(true)
})

test("UndiciClient: if undici fails to load, the error has the reason", function*() {
  const made = yield* madeWith(() => {
    throw new Error()
  })
  expect(made).toMatchObject({
    left: { field: "httpClient", rule: expect.stringMatching(/failed to load \(Error: .*bundle/) }
  })
})

test("UndiciClient: if undici has an empty Agent, as in Bun, the error names another client", function*() {
  const made = yield* madeWith(() => ({
    Agent: class {
      closed = false
    }
  }))
  expect(made).toMatchObject({
    left: { field: "httpClient", rule: expect.stringContaining("use FetchHttpClient.layer") }
  })
})
