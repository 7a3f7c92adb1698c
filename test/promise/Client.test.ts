import { getEventListeners } from "node:events"
import { setImmediate, setTimeout } from "node:timers/promises"
import { inspect } from "node:util"
import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Logger, LogLevel, Option, Redacted, Schema } from "effect"
import {
  NutritionAdvisor,
  NutritionAdvisorError,
  RequestRetry,
  SearchCache,
  SharedTokenCache
} from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { afterEach, vi } from "vitest"
import { z } from "zod"
import { bufferedSendOf } from "../../src/internal/http/buffered.js"
import { installedClient } from "../../src/internal/promise/installedClient.js"
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

const never = { search: () => Effect.never }

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe("effect-nutrition-advisor/promise", () => {
  it("exports the constructors, and all that the library has for its errors", () => {
    const { createClient, fromLayer, ...others } = Advisor
    expect([typeof createClient, typeof fromLayer]).toEqual(["function", "function"])
    expect({ ...others }).toEqual({ ...NutritionAdvisorError })
  })
})

describe("createClient", () => {
  it.each<readonly [string, object]>([
    ["baseUrl", { baseUrl: "http://nutrition.example" }],
    ["baseUrl", { baseUrl: undefined }],
    ["licenseKey", { licenseKey: " " }],
    ["licenseKey", { licenseKey: undefined }],
    ["licenseKey", { licenseKey: 4711 }],
    ["licenseKey", { licenseKey: Redacted.make("<your key>") }],
    ["tokenTimeout", { tokenTimeout: "soon" }],
    ["observeHeaders", { observeHeaders: ["set-cookie"] }]
  ])("throws a ConfigurationError at once that names the setting: %s, case %#", (field, wrong) => {
    const error = thrownBy(() => Advisor.createClient({ ...settings, ...wrong }))
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    expect(error).toMatchObject({ _tag: "ConfigurationError", field, message: expect.stringContaining(field) })
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
    expect(Advisor.createClient()).toMatchObject({ search: expect.any(Function) })
    vi.stubEnv(variable, value)
    const error = thrownBy(() => Advisor.createClient())
    expect(error).toBeInstanceOf(Advisor.ConfigurationError)
    expect(error).toMatchObject({ field, variable, message: expect.stringContaining(variable) })
  })

  it("builds and sends nothing before the first call, and then once for all calls", async () => {
    await using world = simulated()
    await setImmediate()
    expect(world.builds()).toBe(0)
    await Promise.all(Array.from({ length: 64 }, () => world.advisor.search("oats")))
    expect(world.builds()).toBe(1)
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 1, searches: 64 })
  })

  it("sends through UndiciClient where undici is installed", async () => {
    const isUndiciClient = Effect.map(HttpClient.HttpClient, (client) => bufferedSendOf(client) !== undefined)
    expect(await Effect.runPromise(Effect.provide(isUndiciClient, installedClient))).toBe(true)
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
  const secret = "secret-of-the-vault"

  it("is called at each exchange, and may give a text or a Redacted one, at once or later", async () => {
    const keys = [key, Promise.resolve(key), Simulator.licenseKey, Promise.resolve(Simulator.licenseKey)]
    let calls = 0
    await using world = simulated({ licenseKey: () => keys[calls++] ?? key })
    for (const _ of keys) {
      await world.advisor.search("oats")
      await world.told(({ revoke }) => revoke)
    }
    expect(calls).toBe(4)
  })

  it.each<readonly [string, () => unknown]>([
    ["throws", () => {
      throw new Error(secret)
    }],
    ["rejects", () => Promise.reject(new Error(secret))],
    ["rejects with a text", () => Promise.reject(secret)],
    ["gives nothing", () => undefined],
    ["gives a number", () => 4711],
    ["gives an object", () => ({ secret })],
    ["gives a blank text", () => Promise.resolve("")],
    ["gives a text with a line break", () => `${secret}\n`],
    ["gives Redacted of nothing", () => Redacted.make(undefined)]
  ])("ends calls in LicenseKeyUnavailable that repeats nothing where it %s", async (_, licenseKey) => {
    await using world = simulated({ licenseKey: licenseKey as () => string })
    vi.spyOn(console, "error").mockReturnValue()
    const error = await rejection(world.advisor.search("oats"))
    expect(error).toBeInstanceOf(Advisor.LicenseKeyUnavailable)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret)
    expect(await world.told(({ counters }) => counters)).toMatchObject({ exchanges: 0 })
  })

  it("keeps a LicenseKeyUnavailable that it throws", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    const error = new Advisor.LicenseKeyUnavailable({ detail: "the vault is sealed" })
    await using world = simulated({ licenseKey: () => Promise.reject(error) })
    expect(await rejection(world.advisor.search("oats"))).toBe(error)
  })
})

describe("a promise", () => {
  const { BadRequest, Forbidden, LicenseKeyUnavailable, MissingServiceId } = Advisor
  const { ServerError, TooManyRequests, TransportError, UnexpectedResponse } = Advisor

  it.each([
    new BadRequest({ operation: "search", status: 400 }),
    new ServerError({ operation: "search", status: 503, retryAfter: 5 }),
    new Forbidden({ operation: "search", status: 403, reason: "RejectedAgain" }),
    new MissingServiceId({ operation: "token" }),
    new TooManyRequests({ operation: "search", status: 429 }),
    new TransportError({ operation: "search", reason: "Connection", code: "ECONNREFUSED" }),
    new UnexpectedResponse({ operation: "search", status: 200, reason: "NotJson" }),
    new LicenseKeyUnavailable({ detail: "sealed" })
  ])("rejects with the error itself, whose stack names who called and nothing of the runtime: $_tag", async (error) => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layerFailing(error))
    const whoCalls = async () => {
      await advisor.search("oats")
    }
    for (const reason of [await rejection(whoCalls()), await rejection(advisor.fetch("/v2/diary"))]) {
      expect(reason).toBe(error)
      expect(Advisor.isTransient(reason)).toBe(NutritionAdvisorError.isTransient(error))
    }
    await rejection(whoCalls())
    expect(error.stack).toMatch(/ at (async )?whoCalls \(.*Client\.test\.ts:\d+/)
    expect(error.stack).toContain(`${error._tag}: ${error.message}`)
    expect(error.stack).not.toMatch(/node_modules\/effect|[fF]iber|src\//)
  })

  const thrown = Object.freeze({ what: "a part of the user's threw" })

  const failure = new TooManyRequests({ operation: "search" })

  it.each<readonly [string, () => Effect.Effect<never, Advisor.NutritionAdvisorError>, object]>([
    ["fails with in a span", () => Effect.withSpan(Effect.fail(failure), "outside"), failure],
    ["dies of", () => Effect.die(thrown), thrown],
    ["dies of in a span", () => Effect.withSpan(Effect.die(thrown), "outside"), thrown],
    ["throws", () => {
      throw thrown
    }, thrown]
  ])("rejects with what a part %s", async (_, search, reason) => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))
    expect(await rejection(advisor.search("oats"))).toBe(reason)
  })

  it("rejects with what building the layer ends in, for each call", async () => {
    const error = new Advisor.ConfigurationError({ field: "connections" })
    await using advisor = Advisor.createClient({ ...settings, httpClient: Layer.fail(error) })
    expect(await rejection(advisor.search("oats"))).toBe(error)
    expect(await rejection(advisor.fetch("/v2/diary"))).toBe(error)
  })

  it("rejects in TransportError where a part interrupts it", async () => {
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search: () => Effect.interrupt }))
    expect(await rejection(advisor.search("oats"))).toEqual(aborted("search"))
  })
})

describe("search and searchAs", () => {
  it("send the options as they are at the call, also the first one, for which the layer is built", async () => {
    await using world = simulated()
    for (let call = 0; call < 2; call++) {
      const urlParams: Record<string, string> = { page: "1" }
      const sent = world.advisor.search("oats", { urlParams })
      urlParams["page"] = "2"
      await sent
    }
    const requests = await world.told(({ requests }) => requests)
    expect(requests.filter(({ operation }) => operation === "search").map(({ query }) => query))
      .toEqual(["term=oats&page=1", "term=oats&page=1"])
  })

  it("hand query parameters and headers on", async () => {
    await using world = simulated()
    await world.advisor.search("oats", { urlParams: { page: 2 }, headers: { "x-a": "1" } })
    await world.advisor.searchAs(Schema.Unknown)("oats", { urlParams: { page: 2 }, headers: { "x-a": "1" } })
    const seen = (await world.told(({ requests }) => requests)).slice(1)
    expect(seen).toMatchObject(Array(2).fill({ query: "term=oats&page=2", headers: { "x-a": "1" } }))
  })

  it("decode with a schema of effect and with one of another library", async () => {
    await using world = simulated()
    await world.told(({ respondAlways }) => respondAlways("search", { status: 200, body: { total: "3" } }))
    const ofEffect = world.advisor.searchAs(Schema.Struct({ total: Schema.NumberFromString }))
    const ofZod = world.advisor.searchAs(z.object({ total: z.string().transform(Number) }))
    expect([await ofEffect("oats"), await ofZod("oats"), await ofZod("rice")]).toEqual(Array(3).fill({ total: 3 }))
    expect(await rejection(world.advisor.searchAs(z.object({ total: z.number() }))("oats"))).toEqual(
      new Advisor.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
    )
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

  it("logs nothing of what a call ends in, at any level: a schema may die of the payload", async () => {
    const lines: Array<unknown> = []
    const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ cause }) => lines.push(cause)))
    const layer = NutritionAdvisorTest.layer({ search: () => Effect.succeed("a payload") })
    const loud = Layer.mergeAll(layer, logger, Logger.minimumLogLevel(LogLevel.All))
    const bug = Schema.transform(Schema.String, Schema.String, {
      decode: (payload): string => {
        throw new Error(payload)
      },
      encode: (text) => text
    })
    await using advisor = Advisor.fromLayer(loud)
    const searching = advisor.searchAs(bug)
    expect(await rejection(searching("oats"))).toMatchObject({ message: "a payload" })
    expect(await rejection(searching("oats"))).toMatchObject({ message: "a payload" })
    expect(lines).toEqual([])
  })

  it("takes any composition", async () => {
    await using world = simulated()
    const { httpClient } = world
    const options = { baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }
    const layer = SearchCache.layer({ timeToLive: "1 hour" }).pipe(
      Layer.provide(RequestRetry.layer({ base: "1 millis" })),
      Layer.provideMerge(NutritionAdvisor.layerShared(options)),
      Layer.provide([SharedTokenCache.layerMemory, httpClient])
    )
    await using advisor = Advisor.fromLayer(layer)
    await world.told(({ respondNext }) => respondNext("search", { status: 503 }))
    expect(await advisor.search("oats")).toEqual(await advisor.search("oats"))
    expect(await world.told(({ counters }) => counters)).toMatchObject({ searches: 2 })
    expect((await advisor.status()).state).toBe("fresh")
  })

  it("rejects in one sentence where a variable of the layer is missing or wrong, and with any other error as it is", async () => {
    const rejected = (layer: Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>) =>
      rejection(Advisor.fromLayer(layer).search("oats"))
    const configured = () =>
      NutritionAdvisor.layerConfig().pipe(
        Layer.provide(Simulator.layerHttpClient()),
        Layer.provide(Layer.setConfigProvider(ConfigProvider.fromEnv()))
      )
    vi.stubEnv("NUTRITION_ADVISOR_BASE_URL", Simulator.baseUrl)
    const variable = "NUTRITION_ADVISOR_LICENSE_KEY"
    expect(await rejected(configured())).toEqual(
      new Advisor.ConfigurationError({ field: "licenseKey", rule: "is not set", variable })
    )
    vi.stubEnv(variable, key)
    vi.stubEnv("NUTRITION_ADVISOR_REQUEST_TIMEOUT", "soon")
    expect(await rejected(configured())).toMatchObject({ _tag: "ConfigurationError", field: "requestTimeout" })
    const own = new Error("no such vault")
    expect(await rejected(Layer.fail(own))).toBe(own)
  })

  it("rejects with no text of a Config of the application's own: it repeats the value, which may be a secret in the wrong place", async () => {
    const rejected = (own: Config.Config<unknown>) =>
      rejection(Advisor.fromLayer(Layer.unwrapEffect(Effect.as(own, NutritionAdvisorTest.layer(never)))).search("oats"))
    vi.stubEnv("WRONG", key)
    const refused = { field: "WRONG", rule: "is not accepted", variable: "WRONG" }
    expect(await rejected(Config.integer("WRONG"))).toEqual(new Advisor.ConfigurationError(refused))
    vi.stubEnv("NUTRITION_ADVISOR_LEASE", key)
    expect(inspect(await rejected(Config.duration("NUTRITION_ADVISOR_LEASE")))).not.toContain(key)
    expect(await rejected(Config.string("UNSET"))).toMatchObject({ rule: "is not set", variable: "UNSET" })
  })
})

describe("status", () => {
  it("says what is known of the token, and still answers after close", async () => {
    await using world = simulated()
    expect(await world.advisor.status()).toEqual({
      state: "none",
      expiresAt: Option.none(),
      lastFailure: Option.none()
    })
    await world.advisor.search("oats")
    const fresh = await world.advisor.status()
    expect(fresh).toMatchObject({ state: "fresh", expiresAt: Option.some(expect.any(Number)) })
    await world.advisor.close()
    expect(await world.advisor.status()).toEqual(fresh)
  })

  it("is none where the layer gives no TokenProvider, and where nothing was built before close", async () => {
    const advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({}))
    expect((await advisor.status()).state).toBe("none")
    await advisor.close()
    expect((await advisor.status()).state).toBe("none")
    const unused = Advisor.createClient(settings)
    await unused.close()
    expect((await unused.status()).state).toBe("none")
  })
})

describe("a signal", () => {
  const reason = new Error("the caller has left")

  it("that was aborted before sends nothing, and wins over anything else that is wrong", async () => {
    await using world = simulated()
    const signal = AbortSignal.abort(reason)
    const { fetch, search, searchAs } = world.advisor
    const calls = () =>
      [search("oats", { signal }), search(" ", { signal }), searchAs(Schema.Never)("oats", { signal })].concat(
        fetch("/v2/diary", { signal }),
        fetch("https://elsewhere.example", { signal, redirect: "follow" })
      )
    expect(await Promise.all(calls().map(rejection))).toEqual(Array(5).fill(reason))
    expect(world.builds()).toBe(0)
    await world.advisor.close()
    expect(await Promise.all(calls().map(rejection))).toEqual(Array(5).fill(reason))
  })

  it("rejects its calls at once with its reason, and ends what runs", async () => {
    let ended = 0
    const search = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended += 1))
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))
    const controller = new AbortController()
    const { signal } = controller
    const calls = ["oats", "rice"].map((term) => rejection(advisor.search(term, { signal })))
    await setImmediate()
    controller.abort(reason)
    expect(await Promise.all(calls)).toEqual([reason, reason])
    await expect.poll(() => ended).toBe(2)
    const timeout = await rejection(advisor.search("oats", { signal: AbortSignal.timeout(1) }))
    expect(timeout).toMatchObject({ name: "TimeoutError" })
  })

  it("aborted while the layer is built leaves the build to the others", async () => {
    const slow = Layer.effectDiscard(Effect.sleep("20 millis"))
    const double = Layer.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed(1) }), slow)
    await using advisor = Advisor.fromLayer(double)
    const controller = new AbortController()
    const leaving = rejection(advisor.search("oats", { signal: controller.signal }))
    const staying = advisor.search("oats")
    controller.abort(reason)
    expect(await leaving).toBe(reason)
    expect(await staying).toBe(1)
  })

  it("that a part aborts as it is handed the request ends that call as well", async () => {
    let ended = 0
    const controller = new AbortController()
    const hanging = Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended += 1))
    const search = (term: string) =>
      term === "oats" ? Effect.succeed(1) : Effect.zipRight(Effect.sync(() => controller.abort(reason)), hanging)
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))
    await advisor.search("oats")
    expect(await rejection(advisor.search("rice", { signal: controller.signal }))).toBe(reason)
    await expect.poll(() => ended).toBe(1)
  })

  it("that is none is refused each time: nothing is sent, and close finds nothing to end", async () => {
    const sent: Array<string> = []
    const search = (term: string) => Effect.sync(() => sent.push(term))
    const advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))
    await advisor.search("oats")
    const signal = new AbortController()
    for (const term of ["rice", "corn"]) {
      expect(await rejection(Reflect.apply(advisor.search, undefined, [term, { signal }]))).toBeInstanceOf(TypeError)
    }
    await advisor.close()
    expect(sent).toEqual(["oats"])
  })

  it("has one listener for all calls and none after them, and no number of calls is warned of", async () => {
    const warnings: Array<unknown> = []
    const warn = (warning: unknown) => warnings.push(warning)
    process.on("warning", warn)
    const { signal } = new AbortController()
    await using world = simulated()
    await using other = Advisor.fromLayer(NutritionAdvisorTest.layer({ search: () => Effect.succeed(1) }))
    const calls = Array.from({ length: 500 }, () => [world.advisor, other].map(({ search }) => search("a", { signal })))
    expect(getEventListeners(signal, "abort")).toHaveLength(1)
    await Promise.all(calls.flat())
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    await rejection(world.advisor.search("", { signal }))
    await world.advisor.fetch("/v2/products/napi/food/search/semantic?term=a", { signal })
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    await setTimeout(1)
    process.off("warning", warn)
    expect(warnings).toEqual([])
  })

  it("aborted at a random moment harms none of 63 others", async () => {
    await using world = simulated()
    await world.told(({ setLatency }) => setLatency("token", "20 millis"))
    await world.told(({ setLatency }) => setLatency("search", "5 millis"))
    const unhandled: Array<unknown> = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on("unhandledRejection", note)
    for (let turn = 0; turn < 20; turn++) {
      if (turn % 4 === 0) await world.told(({ revoke }) => revoke)
      const controller = new AbortController()
      const leaving = world.advisor.search("oats", { signal: controller.signal }).catch((reason: unknown) => reason)
      const others = Array.from({ length: 63 }, () => world.advisor.search("oats"))
      await setTimeout(Math.random() * 30)
      controller.abort(reason)
      const left = await leaving
      expect(left === reason || Object.hasOwn(Object(left), "results")).toBe(true)
      expect(await Promise.all(others)).toHaveLength(63)
    }
    await setImmediate()
    process.off("unhandledRejection", note)
    expect(unhandled).toEqual([])
  })
})

describe("close", () => {
  it("ends calls under way in TransportError, and all searches and fetches after it", async () => {
    const hanging = z.unknown().refine(() => new Promise<never>(() => {}))
    await using world = simulated()
    await world.advisor.search("oats")
    await world.told(({ setLatency }) => setLatency("search", "1 hour"))
    await using advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search: () => Effect.succeed(1) }))
    const calls = [
      world.advisor.search("oats"),
      world.advisor.fetch("/v2/products/napi/food/search/semantic?term=a"),
      advisor.searchAs(hanging)("oats")
    ].map(rejection)
    await setTimeout(5)
    await Promise.all([world.advisor.close(), advisor.close()])
    const errors = [aborted("search"), aborted("request"), aborted("search")]
    expect(await Promise.all(calls)).toEqual(errors)
    const later = [world.advisor.search("oats"), world.advisor.fetch("/v2/diary"), advisor.searchAs(hanging)("oats")]
    expect(await Promise.all(later.map(rejection))).toEqual(errors)
  })

  it("ends each of many calls under way, some of which have ended before", async () => {
    const search = (term: string) => term === "oats" ? Effect.succeed(1) : Effect.never
    const advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({ search }))
    const terms = Array.from({ length: 9 }, (_, index) => index % 3 === 0 ? "oats" : "rice")
    const calls = terms.map((term) => advisor.search(term).catch((error: unknown) => error))
    await setImmediate()
    await advisor.close()
    const [found, error] = [1, aborted("search")]
    expect(await Promise.all(calls)).toEqual([found, error, error, found, error, error, found, error, error])
  })

  it("within a call ends that call", async () => {
    let ended = 0
    const advisor = Advisor.fromLayer(NutritionAdvisorTest.layer({
      search: (term) =>
        term === "oats" ? Effect.succeed(1) : Effect.suspend(() => {
          void advisor.close()
          return Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended += 1))
        })
    }))
    await advisor.search("oats")
    expect(await rejection(advisor.search("rice"))).toEqual(aborted("search"))
    await advisor.close()
    expect(ended).toBe(1)
  })

  it("ends calls that wait for the layer, and what builds it", async () => {
    let ended = 0
    const forever = Layer.effectDiscard(Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended += 1)))
    const advisor = Advisor.fromLayer(Layer.provide(NutritionAdvisorTest.layer({}), forever))
    const call = rejection(advisor.search("oats"))
    await setImmediate()
    await advisor.close()
    expect(await call).toEqual(aborted("search"))
    expect(ended).toBe(1)
  })

  it("ends once nothing is left running, may be called twice, and closes the layer", async () => {
    const events: Array<string> = []
    const note = (event: string) => Effect.sync(() => events.push(event))
    const search = () =>
      Effect.onInterrupt(Effect.never, () => Effect.zipRight(Effect.sleep("20 millis"), note("search")))
    const scope = Layer.scopedDiscard(
      Effect.addFinalizer(() => Effect.zipRight(Effect.sleep("5 millis"), note("layer")))
    )
    {
      await using advisor = Advisor.fromLayer(Layer.merge(NutritionAdvisorTest.layer({ search }), scope))
      const call = rejection(advisor.search("oats"))
      await setImmediate()
      await Promise.all([advisor.close(), advisor.close()])
      expect(events.sort()).toEqual(["layer", "search"])
      expect(await call).toEqual(aborted("search"))
    }
    expect(events).toEqual(["layer", "search"])
  })

  it("is what await using calls", async () => {
    const advisor = Advisor.fromLayer(NutritionAdvisorTest.layer(never))
    const call = rejection(advisor.search("oats"))
    {
      await using _ = advisor
    }
    expect(await call).toEqual(aborted("search"))
  })
})
