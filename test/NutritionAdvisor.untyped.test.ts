import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { NutritionAdvisor, SearchCache, TokenProvider } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { searchRoute } from "../src/internal/request/build.js"
import { arranged } from "./doubles/arranged.js"

/** What a caller in JavaScript can write. */
const optionsOf = (untyped: Record<string, unknown>): NutritionAdvisor.Options => ({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey,
  ...untyped
})

const advisor = (untyped: Record<string, unknown> = {}) =>
  NutritionAdvisor.layer(optionsOf(untyped)).pipe(Layer.provideMerge(Simulator.layerHttpClient()))

const test = arranged(Effect.void, advisor())

const untyped =
  (search: NutritionAdvisor.Service["search"]) =>
  (...args: ReadonlyArray<unknown>): ReturnType<NutritionAdvisor.Service["search"]> =>
    Reflect.apply(search, undefined, args)

const wiped = () => {
  const secret = Redacted.make("wiped")
  Redacted.unsafeWipe(secret)
  return secret
}

describe("a setting of the wrong type", () => {
  it.effect.each<readonly [string, unknown]>([
    ["baseUrl", 5],
    ["baseUrl", null],
    ["licenseKey", 12_345_678],
    ["licenseKey", "a-key-without-redacted"],
    ["licenseKey", null],
    ["licenseKey", Redacted.make(12_345_678)],
    ["licenseKey", Redacted.make(undefined)],
    ["licenseKey", wiped()],
    ["tokenRoute", 5],
    ["tokenRoute", null],
    ["serviceId", 4711],
    ["serviceId", null],
    ["serviceId", Redacted.make(4711)],
    ["serviceId", {}],
    ["serviceId", wiped()],
    ["serviceIdHeader", null],
    ["serviceIdHeader", 5],
    ["rejectedStatuses", 403],
    ["rejectedStatuses", null],
    ["rejectedStatuses", "403"],
    ["requestTimeout", "soon"],
    ["tokenTimeout", {}],
    ["maxResponseBytes", "16"],
    ["maxResponseBytes", null]
  ])("is a ConfigurationError that names it: %s, case %#", ([field, value]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(advisor({ [field]: value }))))
      expect(error).toMatchObject({ _tag: "ConfigurationError", field })
    }))
})

it.effect("A service id that is wiped once the layer is built is still sent", () =>
  Effect.gen(function*() {
    const serviceId = Redacted.make("3f2b8c1e-5a47-4d0e-9b6c-2d1f7e8a9c00")
    const { search } = yield* NutritionAdvisor.make(optionsOf({ serviceId }))
    Redacted.unsafeWipe(serviceId)
    yield* search("apple")
  }).pipe(Effect.scoped, Effect.provide(Simulator.layerHttpClient())))

describe("a search of the wrong type", () => {
  test.each([undefined, null, 5, {}, ["apple"], Redacted.make("apple")])(
    "is a BadRequest that was not sent: %j",
    function*(term) {
      const { search } = yield* NutritionAdvisor.NutritionAdvisor
      const error = yield* Effect.flip(untyped(search)(term))
      expect([error._tag, error.message]).toEqual([
        "BadRequest",
        "The search was not sent (the search term is no text). Correct the request."
      ])
    }
  )

  test.each([null, undefined, { headers: null }, { urlParams: null }, { headers: undefined }])(
    "takes %j for no further options",
    function*(options) {
      const { search } = yield* NutritionAdvisor.NutritionAdvisor
      const simulator = yield* Simulator.Simulator
      yield* untyped(search)("apple", options)
      expect((yield* simulator.counters).searches).toBe(1)
    }
  )
})

const cyclic: { inner?: unknown } = {}
cyclic.inner = cyclic

const throwing = (name: string) =>
  Object.defineProperty({}, name, {
    enumerable: true,
    get: () => {
      throw new Error("secret")
    }
  })

const unreadable: ReadonlyArray<[what: string, options: unknown]> = [
  ["a text for parameters", { urlParams: "x=1" }],
  ["a number for parameters", { urlParams: 5 }],
  ["a cycle of parameters", { urlParams: cyclic }],
  ["a symbol for a parameter", { urlParams: { x: Symbol("x") } }],
  ["symbols for parameters", { urlParams: [["x", [Symbol("x")]]] }],
  ["a symbol for the name of a parameter", { urlParams: [[Symbol("x"), "1"]] }],
  ["a parameter whose getter throws", { urlParams: throwing("x") }],
  ["a text for headers", { headers: "abc" }],
  ["a number for headers", { headers: 5 }],
  ["a symbol for a header", { headers: { "x-a": Symbol("x") } }],
  ["an object for a header", { headers: { "x-a": {} } }],
  ["a header whose getter throws", { headers: throwing("x-a") }],
  ["a getter of parameters that throws", throwing("urlParams")],
  ["a getter of headers that throws", throwing("headers")]
]

describe("options of a search that can't be read", () => {
  const message = "The search was not sent (the options can't be read). Correct the request."

  test.each(unreadable)(
    "are a BadRequest with a text of its own, also under SearchCache: %s",
    function*([, options]) {
      const service = yield* NutritionAdvisor.NutritionAdvisor
      const cache = yield* SearchCache.make({ timeToLive: "1 minute" })
      const simulator = yield* Simulator.Simulator
      const { search, searchAs } = NutritionAdvisor
      const searches = [
        service.search,
        service.searchAs(Schema.Unknown),
        search,
        searchAs(Schema.Unknown),
        cache.search
      ]
      for (const search of searches) {
        const error = yield* Effect.flip(untyped(search as NutritionAdvisor.Service["search"])("apple", options))
        expect([error._tag, error.message]).toEqual(["BadRequest", message])
      }
      expect((yield* simulator.counters).searches).toBe(0)
    }
  )

  test("are a BadRequest in a request that was made by hand, too", function*() {
    const { httpClient } = yield* NutritionAdvisor.NutritionAdvisor
    const request = { ...HttpClientRequest.get("/v2/x"), headers: { "x-a": Symbol("x") } }
    const error = yield* Effect.flip(
      Reflect.apply(httpClient.execute, httpClient, [request]) as ReturnType<typeof httpClient.execute>
    )
    expect(error).toMatchObject({ _tag: "BadRequest", detail: "the request can't be read" })
  })
})

describe("options of a search that change after the call", () => {
  it.effect("are sent as they were", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, (request) => {
        if (request.method === "GET") sent.push(`${request.url} ${request.headers["x-a"]}`)
        return request
      })
      const service = yield* NutritionAdvisor.make(optionsOf({})).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      const options = { urlParams: { page: "1" }, headers: { "x-a": "1" } }
      const { search, searchAs } = NutritionAdvisor
      const searches = [service.search, service.searchAs(Schema.Unknown), search, searchAs(Schema.Unknown)].map((
        search
      ) => Effect.provideService(search("apple", options), NutritionAdvisor.NutritionAdvisor, service))
      options.urlParams.page = options.headers["x-a"] = "2"
      yield* Effect.all(searches)
      expect(sent).toEqual(searches.map(() => `${Simulator.baseUrl}${searchRoute}?term=apple&page=1 1`))
    }).pipe(Effect.scoped, Effect.provide(Simulator.layerHttpClient())))
})

describe("a license key effect that gives what can't be a key", () => {
  it.effect.each([undefined, null, 12_345_678, {}, ["key"]])(
    "ends the search as LicenseKeyUnavailable, and shows it in the status: %j",
    (value) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(NutritionAdvisor.search("apple"))
        const { status } = yield* TokenProvider.TokenProvider
        expect(error._tag).toBe("LicenseKeyUnavailable")
        expect((yield* status).lastFailure).toMatchObject({ value: { error } })
      }).pipe(Effect.provide(advisor({ licenseKey: Effect.sync(() => Redacted.make(value)) })))
  )

  const key = Redacted.make("a-key")

  it.effect.each<[string, NutritionAdvisor.Options["licenseKey"]]>([
    ["once the layer was built", key],
    ["by the effect that gives it", Effect.sync(wiped)]
  ])("ends the search as LicenseKeyUnavailable where it was wiped %s", ([, licenseKey]) =>
    Effect.gen(function*() {
      const { search } = yield* NutritionAdvisor.make(optionsOf({ licenseKey }))
      Redacted.unsafeWipe(key)
      expect(yield* Effect.flip(search("apple"))).toMatchObject({
        _tag: "LicenseKeyUnavailable",
        detail: "what was read was wiped"
      })
    }).pipe(Effect.scoped, Effect.provide(Simulator.layerHttpClient())))
})
