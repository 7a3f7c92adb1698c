import { once } from "node:events"
import { Agent, get } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { testLive } from "../support/doubles/arranged.js"
import * as Program from "./Program.js"
import { simulated } from "./SimulatorOnPort.js"

const key = "wrong-key-91c2"

const run = (example: string, args?: ReadonlyArray<string>, settings?: Program.Settings) =>
  Program.run(`examples/${example}.ts`, args, settings)

/** An example that is a server, once it has printed its port. `stop` ends it as an operating system does. */
const serve = (example: string, settings: Program.Settings = {}) =>
  Effect.promise(async () => {
    const { child, ended, output } = Program.start(`examples/${example}.ts`, [], { PORT: "0", ...settings })
    const port = () => /(?:http:\/\/[^/\s]+:|"port":)(\d+)\D/.exec(output.stdout)?.[1]
    while (port() === undefined) await once(child.stdout, "data")
    const address = `http://127.0.0.1:${port()}`
    const stop = () => {
      child.kill("SIGTERM")
      return ended
    }
    return { address, ask: (path: string) => fetch(`${address}${path}`), stop }
  })

const failsWithOneSentence = (args: ReadonlyArray<string>, settings: Program.Settings, saying: RegExp) =>
  Effect.map(run("search", args, settings), ({ code, stderr, stdout }) => {
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(saying)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).not.toContain(key)
  })

describe("examples/search.ts", () => {
  testLive("without variables, it prints a table and names the simulator and three variables", function*() {
    const { code, stderr, stdout } = yield* run("search", ["greek yogurt"])
    expect(stdout).toMatch(/^Food, per 100 g +kcal +protein/)
    expect(stdout).toMatch(/\nGreek yogurt, plain +97 +9 g/)
    expect(stdout).toMatch(/simulator.*NUTRITION_ADVISOR_BASE_URL.*_LICENSE_KEY.*_TOKEN_ROUTE.*\n$/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  simulated("the configured key is sent to the configured service", function*({ settings, simulator }) {
    const { code, stdout } = yield* run("search", ["banana"], settings)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 1, searches: 1 })
    expect(stdout).toContain("Banana")
    expect(stdout).not.toContain("simulator")
    expect(code).toBe(0)
  })

  simulated("a wrong key is reported in one sentence, without the key", function*({ settings }) {
    const withWrongKey = { ...settings, NUTRITION_ADVISOR_LICENSE_KEY: key }
    yield* failsWithOneSentence(["banana"], withWrongKey, /[Cc]heck the license key/)
  })

  it.live.each<readonly [string, ReadonlyArray<string>, baseUrl: string | undefined, RegExp]>([
    ["if the search term is missing", [], "http://127.0.0.1:1", /what to search for/],
    ["if nothing listens at the base URL", ["banana"], "http://127.0.0.1:1", /could not reach the service/],
    [
      "if the base URL is plain http",
      ["banana"],
      "http://a.example",
      /baseUrl \(.*_BASE_URL\) must start with https/
    ],
    ["if the base URL is missing", ["banana"], undefined, /NUTRITION_ADVISOR_BASE_URL/]
  ])("%s, it prints one sentence that says what is wrong", ([_, args, baseUrl, saying]) =>
    failsWithOneSentence(args, {
      NUTRITION_ADVISOR_LICENSE_KEY: key,
      ...(baseUrl === undefined ? {} : { NUTRITION_ADVISOR_BASE_URL: baseUrl })
    }, saying))
})

describe("examples/express.ts", () => {
  testLive("it serves foods and its health, shows users only the tag of an error, and exits on SIGTERM", function*() {
    const { ask, stop } = yield* serve("express")
    yield* Effect.promise(async () => {
      const found = await ask("/foods?term=apple")
      const blank = await ask("/foods?term=")
      const health = await ask("/health")
      expect([found.status, blank.status, health.status]).toEqual([200, 400, 200])
      expect(await found.json()).toHaveProperty("results.0.name", "Apple")
      expect([await blank.json(), await health.json()]).toEqual([{ error: "BadRequest" }, { token: "fresh" }])
      expect(await stop()).toMatchObject({ code: 0, stderr: "" })
    })
  })

  simulated("with a wrong key, it exits without printing the key", function*({ settings }) {
    const withWrongKey = { PORT: "0", ...settings, NUTRITION_ADVISOR_LICENSE_KEY: key }
    const { code, stderr, stdout } = yield* run("express", [], withWrongKey)
    expect(code).toBe(1)
    expect(stdout + stderr).toContain("could not be exchanged")
    expect(stdout + stderr).not.toContain(key)
  })
})

describe("examples/http-api.ts", () => {
  testLive(
    "it responds with a food, 400 for a blank term or 404 for an unknown food, and exits on SIGTERM",
    function*() {
      const { ask, stop } = yield* serve("http-api")
      const responseOf = (path: string) =>
        Effect.promise(async () => {
          const response = await ask(path)
          return [response.status, await response.json()]
        })
      const apple = { name: "Apple", per100g: { energyKcal: 52, proteinG: 0.3 } }
      expect(yield* responseOf("/foods/apple")).toEqual([200, apple])
      expect(yield* responseOf("/foods/%20")).toEqual([400, { _tag: "BadRequest" }])
      expect(yield* responseOf("/foods/zzqqxx")).toEqual([404, { _tag: "NotFound" }])
      expect((yield* Effect.promise(stop)).code).toBe(0)
    }
  )

  simulated(
    "it forwards a 429 with Retry-After, and responds with 503 during an outage",
    function*({ settings, simulator }) {
      const { ask, stop } = yield* serve("http-api", settings)
      yield* simulator.provoke("search", "too-many-requests-retry-after")
      const busy = yield* Effect.promise(() => ask("/foods/apple"))
      expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "30"])
      yield* simulator.provoke("search", "html")
      expect(yield* Effect.promise(() => ask("/foods/apple"))).toHaveProperty("status", 503)
      yield* Effect.promise(stop)
    }
  )
})

describe("examples/tenants.ts", () => {
  it.live("each tenant has its own token, and an idle tenant is closed", () =>
    Effect.map(run("tenants"), ({ code, stderr, stdout }) => {
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
    }))
})

describe("examples/telemetry.ts", () => {
  it.live("it prints three searches in the user's span, each linked to the same exchange", () =>
    Effect.map(run("telemetry"), ({ code, stdout }) => {
      const spans = Array.from(stdout.matchAll(/^ {2}name: '([\w.]+)'/gm), ([, name]) => name).sort()
      const search = "NutritionAdvisor.search"
      expect(spans).toEqual([search, search, search, "TokenIssuer.issue", "planMenu"])
      const exchange = /name: 'TokenIssuer.issue',\s+id: '(\w+)'/.exec(stdout)?.[1]
      expect(stdout.split(`spanId: '${exchange}'`)).toHaveLength(4)
      expect(code).toBe(0)
    }))
})

describe("examples that print their result", () => {
  testLive.each<readonly [example: string, what: string, lines: ReadonlyArray<string>]>([
    ["run-promise", "one layer for the process fetches one token, and a layer per call fetches one per call", [
      "one layer for the process: 1 token\n",
      "a layer for each call: 3 tokens\n"
    ]],
    ["test-double", "its assertions pass", ["answered, failed and recorded"]],
    ["other-routes", "it reads and writes at other routes, even after a revocation", [
      "GET 200 { asked: 'day=2026-11-20' }",
      "POST 201 { food: 'apple', grams: 182 }"
    ]],
    ["rotating-key", "each exchange reads the key again, and a missing key is reported", [
      "2 exchanges, each with the key that was valid at the time; 3 searches sent",
      "The license key is not available (the key file can't be read)."
    ]],
    ["shared-token", "three workers cost one exchange", ["3 searches, 1 exchange."]]
  ])("examples/%s.ts: %s", function*([example, _, lines]) {
    const { code, stderr, stdout } = yield* run(example)
    expect(lines.filter((line) => !stdout.includes(line))).toEqual([])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })
})

simulated.each([["express", "/foods?term=apple"], ["http-api", "/foods/apple"]] as const)(
  "examples/%s.ts: on SIGTERM it completes in-flight requests and exits, even if a proxy keeps using its connection",
  function*([example, path], { settings, simulator }) {
    const { address, stop } = yield* serve(example, settings)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const call = Effect.tryPromise(async () => {
      const [response] = await once(get(address + path, { agent }), "response")
      await once(response.resume(), "end")
      return response.statusCode
    })
    yield* simulator.setLatency("search", "300 millis")
    const { searches } = yield* simulator.counters
    const first = yield* Effect.fork(Effect.tap(call, () => Effect.ignore(Effect.forever(call))))
    const isInFlight = (counters: { readonly searches: number }) => counters.searches > searches
    yield* Effect.repeat(simulator.counters, { until: isInFlight, schedule: Schedule.spaced("10 millis") })
    expect((yield* Effect.promise(stop)).code).toBe(0)
    expect(yield* Fiber.join(first)).toBe(200)
  }
)
