import type { HttpClient } from "@effect/platform"
import { describe, expect, expectTypeOf } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import {
  NutritionAdvisor,
  type NutritionAdvisorError,
  SharedTokenCache,
  type TokenProvider
} from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { namesWithVariable, variableOf } from "../../src/internal/options/environment.js"
import { asConfigurationError } from "../../src/internal/promise/configError.js"
import { sharedClientDeclarations } from "../../src/internal/settings/sharing.js"
import { arranged } from "../support/doubles/arranged.js"

type Values = Readonly<Record<string, string>>

const required: Values = {
  NUTRITION_ADVISOR_BASE_URL: Simulator.baseUrl,
  NUTRITION_ADVISOR_LICENSE_KEY: "demo-key-7f3a"
}

const environment = (values: Values) => Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(values))))

type ConfigOptions = Parameters<typeof NutritionAdvisor.layerConfig>[0]

expectTypeOf<{ baseUrl: string }>().not.toExtend<ConfigOptions>()

expectTypeOf<Partial<Config.Config.Wrap<NutritionAdvisor.Options>>>().toExtend<ConfigOptions>()

expectTypeOf(NutritionAdvisor.layer).returns.toEqualTypeOf<
  Layer.Layer<
    NutritionAdvisor.NutritionAdvisor | TokenProvider.TokenProvider,
    NutritionAdvisorError.ConfigurationError,
    HttpClient.HttpClient
  >
>()

/** A client whose environment has only these variables. */
const configuredOnly = (values: Values, options?: ConfigOptions) =>
  NutritionAdvisor.layerConfig(options).pipe(
    Layer.provide(environment(values)),
    Layer.provideMerge(Simulator.layerHttpClient())
  )

const configured = (values: Values, options?: ConfigOptions) => configuredOnly({ ...required, ...values }, options)

const shared = (values: Values) =>
  NutritionAdvisor.layerSharedConfig().pipe(
    Layer.provide(environment({ ...required, ...values })),
    Layer.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
  )

const test = arranged(Simulator.Simulator, configured({}))

const built = <A, E>(layer: Layer.Layer<A, E>) => Effect.asVoid(Effect.scoped(Layer.build(layer)))

const search = NutritionAdvisor.search("apple")

describe("layerConfig", () => {
  const inCompose = (flag: string) =>
    built(configured({
      NUTRITION_ADVISOR_BASE_URL: "http://simulator:8787",
      NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP: flag
    }))

  test.each(["true", "1", "yes", "ON"])(
    "http to another host is allowed by NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP=%s",
    function*(flag) {
      yield* inCompose(flag)
    }
  )

  test.each(["false", "0", "no", "off", ""])(
    "http to another host is rejected with NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP=%s",
    function*(flag) {
      const error = yield* Effect.flip(inCompose(flag))
      expect(error).toMatchObject({ _tag: "ConfigurationError", field: "baseUrl" })
    }
  )

  test("NUTRITION_ADVISOR_OBSERVE_HEADERS is a comma-separated list of names", function*({ respondNext }) {
    yield* respondNext("search", { status: 500, headers: { "x-a": "1", "x-b": "2", "x-c": "3" } })
    expect(yield* Effect.flip(search)).toMatchObject({ headers: { "x-a": "1", "x-b": "2" } })
  }, configured({ NUTRITION_ADVISOR_OBSERVE_HEADERS: "X-A, x-b," }))

  test.each<readonly [string, string]>([
    ["NUTRITION_ADVISOR_TOKEN_TIMEOUT", "demo-key-9e1b"],
    ["NUTRITION_ADVISOR_REQUEST_TIMEOUT", "5000"],
    ["NUTRITION_ADVISOR_MAX_RESPONSE_BYTES", "16 MiB"],
    ["NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP", "perhaps"]
  ])("an invalid value of %s fails with a ConfigError that doesn't contain the value: %j", function*([name, value]) {
    const error = yield* Effect.flip(built(configured({ [name]: value })))
    expect(error).toMatchObject({ _tag: "ConfigError", message: expect.stringContaining("must be ") })
    expect(String(error)).toContain(name)
    expect(String(error)).not.toContain(value)
  })

  test("ConfigurationError: one error names all variables that are missing", function*() {
    expect(asConfigurationError(yield* Effect.flip(built(configuredOnly({}))))).toMatchObject({
      _tag: "ConfigurationError",
      message: "The settings baseUrl and licenseKey (NUTRITION_ADVISOR_BASE_URL and NUTRITION_ADVISOR_LICENSE_KEY) " +
        "are not set."
    })
  })

  const optional = namesWithVariable(sharedClientDeclarations).map(variableOf).filter((name) => !(name in required))

  test("blank variables count as unset", function*({ requests }) {
    yield* search
    expect(yield* requests).toHaveLength(2)
  }, configured(Object.fromEntries(optional.map((name) => [name, " "]))))

  const other: Values = { NUTRITION_ADVISOR_USER_AGENT: "shop/2", NUTRITION_ADVISOR_TOKEN_ROUTE: "unified" }

  test("an option that is missing or undefined is read from its variable", function*({ requests }) {
    yield* search
    expect((yield* requests).map(({ headers, path }) => [headers["user-agent"], path])).toEqual([
      ["given/1", "/v2/token-cache/unified/oauth/token/{key}"],
      ["given/1", "/v2/products/napi/food/search/semantic"]
    ])
  }, configured(other, { userAgent: Config.succeed("given/1"), tokenRoute: undefined }))

  const whole = Config.succeed({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })

  test("no variable is read if one Config has all settings", function*({ requests }) {
    yield* search
    expect((yield* requests).map(({ path }) => path)[0])
      .toBe("/v2/token-cache/nutrition-advisor/oauth/licence/{key}")
  }, configured({ ...other, NUTRITION_ADVISOR_LICENSE_KEY: "" }, whole))
})

describe("ConfigurationError of a rejected setting", () => {
  test.each<readonly [string, string, ((values: Values) => Layer.Layer<never, unknown>)?]>([
    ["NUTRITION_ADVISOR_BASE_URL", "http://service.example"],
    ["NUTRITION_ADVISOR_TOKEN_ROUTE", "demo-key-9e1b"],
    ["NUTRITION_ADVISOR_SERVICE_ID", "ä"],
    ["NUTRITION_ADVISOR_TOKEN_TIMEOUT", "0 seconds"],
    ["NUTRITION_ADVISOR_MAX_RESPONSE_BYTES", " 0 "],
    ["NUTRITION_ADVISOR_OBSERVE_HEADERS", "x-a, cookie"],
    ["NUTRITION_ADVISOR_LEASE", "5 seconds", shared],
    ["NUTRITION_ADVISOR_CACHE_TIMEOUT", "0 seconds", shared]
  ])("the error names the variable %s", function*([variable, value, layer = configured]) {
    const error = yield* Effect.flip(built(layer({ [variable]: value })))
    expect(error).toMatchObject({ _tag: "ConfigurationError", variable })
  })

  test("the error names no variable if all settings are in one Config", function*() {
    const layer = configured({}, Config.succeed({ baseUrl: "service.example", licenseKey: Simulator.licenseKey }))
    expect(yield* Effect.flip(built(layer))).not.toHaveProperty("variable")
  })

  test("the error names no variable that is not set", function*() {
    const error = yield* Effect.flip(built(shared({ NUTRITION_ADVISOR_TOKEN_TIMEOUT: "16 seconds" })))
    expect(error).toMatchObject({ field: "lease" })
    expect(error).not.toHaveProperty("variable")
  })
})
