import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { testLive } from "../doubles/arranged.js"
import { leaveUpgrades } from "./hostile/leaveUpgrades.js"
import * as Program from "./Program.js"
import * as RedisServer from "./redis/RedisServer.js"
import { simulated } from "./SimulatorOnPort.js"

const key = "wrong-key-91c2"

const run = (example: string, args?: ReadonlyArray<string>, settings?: Program.Settings) =>
  Program.run(`examples/${example}.ts`, args, settings)

/** An example that serves, once it has told its port; `stop` ends it as an operating system does. */
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
    return { address, ask: (path: string) => fetch(`${address}${path}`), ended, stop }
  })

const failsWithOneSentence = (args: ReadonlyArray<string>, settings: Program.Settings, saying: RegExp) =>
  Effect.map(run("search", args, settings), ({ code, stderr, stdout }) => {
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(saying)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).not.toContain(key)
  })

describe.concurrent("an example with --help", () => {
  // test/readme.test.ts shows that the others import the same module as the first of these does.
  it.live.each(["telemetry", "bulk-search", "bulk-queue/run", "bulk-queue/work"])(
    "says what it does and what it needs, and ends with 0: %s",
    (example) =>
      Effect.map(run(example, ["--help"]), ({ code, stderr, stdout }) => {
        expect(stdout).toMatch(/^(Usage: )?[a-zA-Z][^*]+[nN]eeds\b[^*]+\n$/)
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      })
  )
})

describe("examples/search.ts", () => {
  testLive("prints a table and names the simulator and three variables when nothing is set", function*() {
    const { code, stderr, stdout } = yield* run("search", ["greek yogurt"])
    expect(stdout).toMatch(/^Food, per 100 g +kcal +protein/)
    expect(stdout).toMatch(/\nGreek yogurt, plain +97 +9 g/)
    expect(stdout).toMatch(/simulator.*NUTRITION_ADVISOR_BASE_URL.*_LICENSE_KEY.*_TOKEN_ROUTE.*\n$/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

  testLive("prints nothing but the payload on stdout with --json", function*() {
    const { code, stdout } = yield* run("search", ["--json", "oats"])
    expect(JSON.parse(stdout)).toMatchObject({ results: expect.any(Array), alternateNames: expect.any(Array) })
    expect(code).toBe(0)
  })

  simulated("searches at the configured service with the configured key", function*({ settings, simulator }) {
    const { code, stdout } = yield* run("search", ["banana"], settings)
    expect(yield* simulator.counters).toMatchObject({ exchanges: 1, searches: 1 })
    expect(stdout).toContain("Banana")
    expect(stdout).not.toContain("simulator")
    expect(code).toBe(0)
  })

  simulated("says in one sentence that the key is wrong, without the key", function*({ settings }) {
    const withWrongKey = { ...settings, NUTRITION_ADVISOR_LICENSE_KEY: key }
    yield* failsWithOneSentence(["banana"], withWrongKey, /Check the license key/)
  })

  it.live.each<readonly [string, ReadonlyArray<string>, baseUrl: string | undefined, RegExp]>([
    ["a term is missing", [], "http://127.0.0.1:1", /what to search for/],
    ["nothing listens at the base URL", ["banana"], "http://127.0.0.1:1", /could not reach the service/],
    [
      "a plain-http address is refused",
      ["banana"],
      "http://a.example",
      /baseUrl \(.*_BASE_URL\) must begin with https/
    ],
    ["half of the settings are missing", ["banana"], undefined, /NUTRITION_ADVISOR_BASE_URL/]
  ])("says in one sentence that %s", ([_, args, baseUrl, saying]) =>
    failsWithOneSentence(args, {
      NUTRITION_ADVISOR_LICENSE_KEY: key,
      ...(baseUrl === undefined ? {} : { NUTRITION_ADVISOR_BASE_URL: baseUrl })
    }, saying))
})

describe("examples/service.ts", () => {
  testLive("serves foods, health and metrics with one token and ends on SIGTERM", function*() {
    const { address, ask, stop } = yield* serve("service")
    yield* Effect.promise(async () => {
      const paths = ["/foods?term=apple", "/foods?term=", "/health", "/metrics", "/ready"]
      const [found, blank, health, metrics, ready] = await Promise.all(paths.map(ask))
      const statuses = [found, blank, health, metrics, ready].map((response) => response?.status)
      expect(statuses).toEqual([200, 400, 200, 200, 200])
      expect(await metrics?.text()).toMatch(/^nutrition_advisor_token_exchanges_total\{.*outcome="issued".*\} 1$/m)
      expect(await found?.json()).toHaveProperty("results.0.name", "Apple")
      expect(await health?.json()).toMatchObject({ token: "fresh", lastFailure: null })
      for (const target of ["http://", "//", "http://["]) {
        const socket = connect(Number(new URL(address).port), "127.0.0.1")
        socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
        expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /)
      }
      expect((await stop()).code).toBe(0)
    })
  })

  testLive("is healthy and not ready while exchanges fail", function*() {
    const settings = { NUTRITION_ADVISOR_BASE_URL: "http://127.0.0.1:1", NUTRITION_ADVISOR_LICENSE_KEY: key }
    const { ask, stop } = yield* serve("service", settings)
    yield* Effect.promise(async () => {
      const ready = await ask("/ready")
      expect([ready.status, await ready.json()]).toEqual([503, { ready: false, error: "TransportError" }])
      const health = await ask("/health")
      expect([health.status, await health.json()]).toEqual([200, expect.anything()])
      const foods = await ask("/foods?term=apple")
      expect([foods.status, await foods.json()]).toEqual([503, { error: "Foods can't be searched at the moment." }])
      const { code, stderr, stdout } = await stop()
      expect(stdout + stderr).toContain("The token exchange could not reach the service")
      expect(code).toBe(0)
    })
  })
})

describe("examples/express.ts", () => {
  testLive("serves foods and health, tells users the kind of an error alone, and ends on SIGTERM", function*() {
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

  simulated("does not start with a key that the service refuses, and says so in its own log", function*({ settings }) {
    const withWrongKey = { PORT: "0", ...settings, NUTRITION_ADVISOR_LICENSE_KEY: key }
    const { code, stderr, stdout } = yield* run("express", [], withWrongKey)
    const lines = stdout.trim().split("\n").map((line) => JSON.parse(line))
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" })
    expect(lines).toMatchObject([
      { level: 40, error: "BadRequest", msg: expect.stringContaining("could not be exchanged") },
      { level: 60, err: { type: "BadRequest", operation: "token" } }
    ])
    expect(stdout).not.toContain(key)
  })
})

describe("examples/http-api.ts", () => {
  testLive(
    "answers with a food, with 400 for a blank term and 404 for an unknown food, and ends on SIGTERM",
    function*() {
      const { ask, stop } = yield* serve("http-api")
      const answer = (path: string) =>
        Effect.promise(async () => {
          const response = await ask(path)
          return [response.status, await response.json()]
        })
      const apple = { name: "Apple", per100g: { energyKcal: 52, proteinG: 0.3 } }
      expect(yield* answer("/foods/apple")).toEqual([200, apple])
      expect(yield* answer("/foods/%20")).toEqual([400, { _tag: "BadRequest" }])
      expect(yield* answer("/foods/zzqqxx")).toEqual([404, { _tag: "NotFound" }])
      expect((yield* Effect.promise(stop)).code).toBe(0)
    }
  )

  testLive("goes on, and ends with SIGTERM, where connections that ask for an upgrade have left", function*() {
    const { address, ask, ended, stop } = yield* serve("http-api")
    yield* Effect.promise(async () => {
      await leaveUpgrades(address)
      expect(await Promise.race([ask("/foods/apple"), ended])).toHaveProperty("status", 200)
      expect((await stop()).code).toBe(0)
    })
  })

  simulated(
    "passes an outage of the token route on as 503, without a secret in body, header or log",
    function*({ settings, simulator }) {
      yield* simulator.provoke("token", "unavailable-retry-after")
      const { ask, stop } = yield* serve("http-api", settings)
      yield* Effect.promise(async () => {
        const response = await ask("/foods/apple")
        const body = await response.text()
        const { stderr, stdout } = await stop()
        expect([response.status, body]).toEqual([503, "{\"_tag\":\"ServiceUnavailable\"}"])
        expect(stdout).toContain("The token exchange failed at the service with status 503")
        const shown = [body, JSON.stringify([...response.headers]), stdout, stderr].join()
        for (const secret of Object.values(settings)) expect(shown).not.toContain(secret)
      })
    }
  )

  simulated(
    "passes a 429 of the service on with the time to wait, and any other trouble as 503",
    function*({ settings, simulator }) {
      const { ask, stop } = yield* serve("http-api", settings)
      yield* simulator.provoke("search", "too-many-requests-retry-after")
      const busy = yield* Effect.promise(() => ask("/foods/apple"))
      expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "30"])
      yield* simulator.provoke("search", "html")
      const broken = yield* Effect.promise(() => ask("/foods/apple"))
      expect(broken.status).toBe(503)
      yield* Effect.promise(stop)
    }
  )
})

describe("examples/tenants.ts", () => {
  it.live("gives each tenant a token of its own, and closes a tenant that is idle", () =>
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
      expect(stdout.match(/ is closed$/gm)).toHaveLength(4)
      expect(stdout).not.toContain("key-of")
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    }))
})

describe("examples/telemetry.ts", () => {
  it.live("shows three searches of the user's span, each linked to one exchange", () =>
    Effect.map(run("telemetry"), ({ code, stdout }) => {
      expect(Array.from(stdout.matchAll(/^ {2}name: '([\w.]+)'/gm), ([, name]) => name).sort()).toEqual([
        "NutritionAdvisor.search",
        "NutritionAdvisor.search",
        "NutritionAdvisor.search",
        "TokenIssuer.issue",
        "planMenu"
      ])
      const exchange = /name: 'TokenIssuer.issue',\s+id: '(\w+)'/.exec(stdout)?.[1]
      expect(stdout.match(/links: \[\s+\{\s+context: \{\s+spanId: '(\w+)'/g)).toHaveLength(3)
      expect(stdout.split(`spanId: '${exchange}'`)).toHaveLength(4)
      const user = /name: 'planMenu',\s+id: '(\w+)'/.exec(stdout)?.[1]
      expect(stdout.match(new RegExp(`parentSpanContext: \\{[^}]*spanId: '${user}'`, "g"))).toHaveLength(3)
      expect(code).toBe(0)
    }))
})

const sharesOneToken = (place: string, settings: Program.Settings = {}) =>
  Effect.map(run("shared-token", [place], settings), ({ code, stderr, stdout }) => {
    const said = stdout.trim().split("\n").map((line) => line.replace(/^(Anna|Ben|Cleo) /, ""))
    expect(said.sort()).toEqual([
      "3 searches, 1 exchange.",
      "exchanged the license key.",
      "was handed the token.",
      "was handed the token."
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })

describe("examples/shared-token.ts", () => {
  it.live("shows one exchange for three workers that share a directory", () => sharesOneToken("files"))

  testLive("shows an exchange per worker, and a warning each, where no Redis runs", function*() {
    const settings = { NUTRITION_ADVISOR_REDIS_URL: "redis://127.0.0.1:1" }
    const { code, stdout } = yield* run("shared-token", ["redis"], settings)
    expect(stdout.match(/exchanged the license key by itself/g)).toHaveLength(3)
    expect(stdout).toContain("3 searches, 3 exchanges.")
    expect(code).toBe(0)
  })
})

RedisServer.describeWithRedis("examples/shared-token.ts over Redis", () => {
  it.scopedLive("shows one exchange for three workers", () =>
    Effect.flatMap(
      RedisServer.make(),
      ({ url }) => sharesOneToken("redis", { NUTRITION_ADVISOR_REDIS_URL: Redacted.value(url) })
    ))
})

describe("an example that prints what it shows", () => {
  testLive.each<readonly [example: string, what: string, lines: ReadonlyArray<string>]>([
    ["run-promise", "shows one token for one layer, and a token per call for a layer per call", [
      "one layer for the process: 1 token\n",
      "a layer for each call: 3 tokens\n"
    ]],
    ["test-double", "passes its own assertions", ["answered, failed and recorded"]],
    ["other-routes", "reads and writes at other routes, also after a revocation", [
      "GET 200 { asked: 'day=2026-11-20' }",
      "POST 201 { food: 'apple', grams: 182 }"
    ]],
    ["rotating-key", "reads the key anew at each exchange, and says when it can't", [
      "2 exchanges, each with the key of its day; 3 searches sent",
      "The license key is not available (the key file can't be read)."
    ]],
    ["resilient", "prints what a cache, a retry and a throttle have saved", [
      "200 searches for oats, 99 joined the first one, 100 were answered from memory.",
      "3 of 3 were answered.",
      "after one 429, 100 of 100 searches were not sent",
      "In all 305 searches, of which the service saw 9."
    ]]
  ])("examples/%s.ts %s", function*([example, _, lines]) {
    const { code, stderr, stdout } = yield* run(example)
    expect(lines.filter((line) => !stdout.includes(line))).toEqual([])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  })
})
