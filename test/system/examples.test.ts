import { once } from "node:events"
import { Agent, get } from "node:http"
import { describe, expect } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { arrangedLive, testLive } from "../support/doubles/arranged.js"
import * as WatchedSimulator from "../support/doubles/WatchedSimulator.js"
import * as Program from "./Program.js"
import * as RedisServer from "./redis/RedisServer.js"

const withSimulator = arrangedLive(WatchedSimulator.start(), Layer.empty)

const key = "wrong-key-91c2"

const wrongKey = { NUTRITION_ADVISOR_LICENSE_KEY: key }

const run = (example: string, args?: ReadonlyArray<string>, settings?: Program.Settings) =>
  Program.run(`examples/${example}.ts`, args, settings)

/** An example that is a server. */
const serve = (example: string, settings: Program.Settings = {}) =>
  Effect.map(
    Program.serving(`examples/${example}.ts`, [], { PORT: "0", ...settings }),
    ({ stop, url }) => {
      const ask = (path: string) =>
        Effect.promise(async () => {
          const response = await fetch(url + path)
          return [response.status, await response.json()]
        })
      return { ask, stop, url }
    }
  )

describe("examples/search.ts", () => {
  testLive("without variables, it prints a table and names the simulator and three variables", function*() {
    const { code, stderr, stdout } = yield* run("search", ["greek yogurt"])
    expect(stdout).toMatch(/^Food, per 100 g +kcal +protein/)
    expect(stdout).toMatch(/\nGreek yogurt, plain +97 +9 g/)
    expect(stdout).toMatch(/simulator.*NUTRITION_ADVISOR_BASE_URL.*_LICENSE_KEY.*_TOKEN_ROUTE.*\n$/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  testLive("it exits with code 0 if nobody reads its output", function*() {
    const { child, ended } = yield* Program.started("examples/search.ts", ["greek yogurt"])
    child.stdout.destroy()
    expect(yield* ended).toMatchObject({ code: 0, stderr: "" })
  })

  withSimulator("the configured key is sent to the configured service", function*({ service, settings }) {
    const { code, stdout } = yield* run("search", ["banana"], settings)
    expect(yield* service.counters).toMatchObject({ exchanges: 1, searches: 1 })
    expect(stdout).toContain("Banana")
    expect(stdout).not.toContain("simulator")
    expect(code).toBe(0)
  })

  withSimulator.each<
    readonly [string, ReadonlyArray<string>, (valid: Program.Settings) => Program.Settings, RegExp]
  >([
    ["a wrong key", ["banana"], (valid) => ({ ...valid, ...wrongKey }), /[Cc]heck the license key/],
    ["a missing search term", [], () => wrongKey, /what to search for/],
    ["a missing base URL", ["banana"], () => wrongKey, /NUTRITION_ADVISOR_BASE_URL/]
  ])("%s is reported in one sentence, without the key", function*([_, args, settingsOf, sentence], { settings }) {
    const { code, stderr, stdout } = yield* run("search", args, settingsOf(settings))
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(sentence)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).not.toContain(key)
  })
})

describe("examples/express.ts", () => {
  testLive("it serves foods and its health, and shows users only the tag of an error", function*() {
    const { ask, stop } = yield* serve("express")
    const [status, found] = yield* ask("/foods?term=apple")
    expect(status).toBe(200)
    expect(found).toHaveProperty("results.0.name", "Apple")
    expect(yield* ask("/foods?term=")).toEqual([400, { error: "BadRequest" }])
    expect(yield* ask("/health")).toEqual([200, { token: "fresh" }])
    expect(yield* stop()).toMatchObject({ code: 0, stderr: "" })
  })

  withSimulator("with a wrong key, it exits without printing the key", function*({ settings }) {
    const { code, stderr, stdout } = yield* run("express", [], { PORT: "0", ...settings, ...wrongKey })
    expect(code).toBe(1)
    expect(stdout + stderr).toContain("could not be exchanged")
    expect(stdout + stderr).not.toContain(key)
  })
})

describe("examples/http-api.ts", () => {
  testLive("it responds with a food, 400 for a blank term, and 404 for an unknown food", function*() {
    const { ask, stop } = yield* serve("http-api")
    const apple = { name: "Apple", per100g: { energyKcal: 52, proteinG: 0.3 } }
    expect(yield* ask("/foods/apple")).toEqual([200, apple])
    expect(yield* ask("/foods/%20")).toEqual([400, { _tag: "BadRequest" }])
    expect(yield* ask("/foods/zzqqxx")).toEqual([404, { _tag: "NotFound" }])
    yield* stop()
  })

  withSimulator(
    "it forwards a 429 with Retry-After, and responds with 503 to an outage",
    function*({ service, settings }) {
      const { ask, stop, url } = yield* serve("http-api", settings)
      yield* service.provoke("search", "too-many-requests-retry-after")
      const busy = yield* Effect.promise(() => fetch(`${url}/foods/apple`))
      expect(busy.status).toBe(429)
      expect(busy.headers.get("retry-after")).toBe("30")
      yield* service.provoke("search", "html")
      expect(yield* ask("/foods/apple")).toHaveProperty("0", 503)
      yield* stop()
    }
  )
})

testLive(
  "examples/tenants.ts: each tenant has its own token, and an idle tenant is closed",
  function*() {
    const { code, stderr, stdout } = yield* run("tenants")
    expect(stdout.split("\n").slice(0, 6)).toEqual([
      "north: searches 2, exchanges 1",
      "south: searches 2, exchanges 1",
      "north is closed",
      "still open: south",
      "south: searches 2, exchanges 0",
      "north: searches 2, exchanges 1"
    ])
    expect(stdout).toContain("\nThe license key is not available (there is no such tenant).")
    expect(stdout).toMatch(/WARN .*could not be exchanged[^]*tenant: west/)
    expect(stdout).not.toContain("key-of")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  }
)

testLive(
  "examples/telemetry.ts: it prints three searches in the user's span, each linked to the same exchange",
  function*() {
    const { code, stdout } = yield* run("telemetry")
    const spans = Array.from(stdout.matchAll(/^ {2}name: '([\w.]+)'/gm), ([, name]) => name).sort()
    const search = "NutritionAdvisor.search"
    expect(spans).toEqual([search, search, search, "TokenIssuer.issue", "planMenu"])
    const exchange = /name: 'TokenIssuer.issue',\s+id: '(\w+)'/.exec(stdout)?.[1]
    expect(stdout.split(`spanId: '${exchange}'`)).toHaveLength(4)
    expect(code).toBe(0)
  }
)

testLive.each<readonly [example: string, what: string, lines: ReadonlyArray<string>]>([
  ["tenants-promise", "each tenant has its own token, and an idle tenant without pending searches is closed", [
    [
      "north: 2 searches, exchanges 1",
      "north is closed",
      "still open: south",
      "south: 2 searches, exchanges 1",
      "south: 2 searches, exchanges 0",
      "north: 2 searches, exchanges 1\n"
    ].join("\n")
  ]],
  ["run-promise", "one layer for the process fetches one token, and a layer per call fetches one per call", [
    "one layer for the process: 1 token\n",
    "a layer for each call: 3 tokens\n"
  ]],
  ["test-double", "its assertions pass", ["responded, failed and recorded"]],
  ["other-routes", "it reads and writes at other routes, even after a revocation", [
    "GET 200 { asked: 'day=2026-11-20' }",
    "POST 201 { food: 'apple', grams: 182 }"
  ]],
  ["rotating-key", "each exchange reads the key again, and a missing key is reported", [
    "2 exchanges, each with the key that was valid at the time; 3 searches sent",
    "The license key is not available (the key file can't be read)."
  ]]
])("examples/%s.ts: %s", function*([example, _, lines]) {
  const { code, stderr, stdout } = yield* run(example)
  expect(lines.filter((line) => !stdout.includes(line))).toEqual([])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
})

RedisServer.describeWithRedis("examples/shared-token.ts", () => {
  testLive("three processes cost one exchange", function*() {
    const { url } = yield* RedisServer.make()
    const ended = yield* run("shared-token", [], { NUTRITION_ADVISOR_REDIS_URL: Redacted.value(url) })
    expect(ended).toEqual({ code: 0, stderr: "", stdout: expect.stringContaining("3 searches, 1 exchange.") })
  })
})

withSimulator.each([["express", "/foods?term=apple"], ["http-api", "/foods/apple"]] as const)(
  "examples/%s.ts: on SIGTERM it completes in-flight requests and exits, even if a proxy keeps using its connection",
  function*([example, path], { service, settings }) {
    const { stop, url } = yield* serve(example, settings)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const call = Effect.tryPromise(async () => {
      const [response] = await once(get(url + path, { agent }), "response")
      await once(response.resume(), "end")
      return response.statusCode
    })
    yield* service.setLatency("search", "300 millis")
    const { searches } = yield* service.counters
    const first = yield* Effect.fork(Effect.tap(call, () => Effect.ignore(Effect.forever(call))))
    const isInFlight = (counters: { readonly searches: number }) => counters.searches > searches
    yield* Effect.repeat(service.counters, { until: isInFlight, schedule: Schedule.spaced("10 millis") })
    expect((yield* stop()).code).toBe(0)
    expect(yield* Fiber.join(first)).toBe(200)
  }
)
