import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { run, start } from "./examples/process.js"
import { leaveUpgrades } from "./hostile/leaveUpgrades.js"
import * as RedisServer from "./redis/RedisServer.js"

const key = "wrong-key-91c2"

const failsWithOneSentence = (args: ReadonlyArray<string>, settings: Record<string, string>, saying: RegExp) =>
  Effect.map(run("search", args, settings), ({ code, stderr, stdout }) => {
    expect(stderr.trim().split("\n")).toEqual([expect.stringMatching(saying)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).not.toContain(key)
  })

const SimulatorOnPort = Simulator.layerServer().pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
)

const portOf = Effect.map(HttpServer.HttpServer, ({ address }) => address._tag === "TcpAddress" ? address.port : 0)

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

const settingsOfPort = Effect.map(portOf, (port) => ({
  NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${port}`,
  NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey)
}))

describe("examples/search.ts", () => {
  it.live("prints a table and names the simulator and three variables when nothing is set", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run("search", ["greek yogurt"])
      expect(stdout).toMatch(/^Food, per 100 g +kcal +protein/)
      expect(stdout).toMatch(/\nGreek yogurt, plain +97 +9 g/)
      expect(stdout).toMatch(/simulator.*NUTRITION_ADVISOR_BASE_URL.*_LICENSE_KEY.*_TOKEN_ROUTE.*\n$/)
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    }))

  it.live("prints nothing but the payload on stdout with --json", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run("search", ["--json", "oats"])
      expect(JSON.parse(stdout)).toMatchObject({ results: expect.any(Array), alternateNames: expect.any(Array) })
      expect(code).toBe(0)
    }))

  it.scopedLive("searches at the configured service with the configured key", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run("search", ["banana"], yield* settingsOfPort)
      const { counters } = yield* Simulator.Simulator
      expect(yield* counters).toMatchObject({ exchanges: 1, searches: 1 })
      expect(stdout).toContain("Banana")
      expect(stdout).not.toContain("simulator")
      expect(code).toBe(0)
    }).pipe(Effect.provide(SimulatorOnPort)))

  it.scopedLive("says in one sentence that the key is wrong, without the key", () =>
    Effect.gen(function*() {
      yield* failsWithOneSentence(["banana"], {
        NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${yield* portOf}`,
        NUTRITION_ADVISOR_LICENSE_KEY: key
      }, /Check the license key/)
    }).pipe(Effect.provide(SimulatorOnPort)))

  it.live("says in one sentence that a term is missing", () => failsWithOneSentence([], {}, /what to search for/))

  it.live("says in one sentence that nothing listens at the base URL", () =>
    failsWithOneSentence(["banana"], {
      NUTRITION_ADVISOR_BASE_URL: "http://127.0.0.1:1",
      NUTRITION_ADVISOR_LICENSE_KEY: key
    }, /could not reach the service/))

  it.live("says in one sentence that a plain-http address is refused", () =>
    failsWithOneSentence(["banana"], {
      NUTRITION_ADVISOR_BASE_URL: "http://nutrition.example",
      NUTRITION_ADVISOR_LICENSE_KEY: key
    }, /baseUrl \(NUTRITION_ADVISOR_BASE_URL\) must begin with https/))

  it.live("says in one sentence that half of the settings are missing", () =>
    failsWithOneSentence(["banana"], { NUTRITION_ADVISOR_LICENSE_KEY: key }, /NUTRITION_ADVISOR_BASE_URL/))
})

describe("examples/service.ts", () => {
  it.live("serves foods, health and metrics with one token and ends on SIGTERM", () =>
    Effect.promise(async () => {
      const { child, ended, printed } = start("service", [], { PORT: "0" })
      while (!printed().includes("\n")) await once(child.stdout, "data")
      const address = /http:\S+/.exec(printed())?.[0]
      const found = await fetch(`${address}/foods?term=apple`)
      const blank = await fetch(`${address}/foods?term=`)
      const health = await fetch(`${address}/health`)
      const metrics = await fetch(`${address}/metrics`)
      const ready = await fetch(`${address}/ready`)
      expect([found.status, blank.status, health.status, metrics.status, ready.status]).toEqual([
        200,
        400,
        200,
        200,
        200
      ])
      expect(await metrics.text()).toMatch(/^nutrition_advisor_token_exchanges_total\{.*outcome="issued".*\} 1$/m)
      expect(await found.json()).toHaveProperty("results.0.name", "Apple")
      expect(await health.json()).toMatchObject({ token: "fresh", lastFailure: null })
      for (const target of ["http://", "//", "http://["]) {
        const socket = connect(Number(new URL(`${address}`).port), "127.0.0.1")
        socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
        expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /)
      }
      child.kill("SIGTERM")
      expect((await ended).code).toBe(0)
    }))
})

describe("examples/express.ts", () => {
  it.live("serves foods and health, tells users the kind of an error alone, and ends on SIGTERM", () =>
    Effect.promise(async () => {
      const { child, ended, printed } = start("express", [], { PORT: "0" })
      while (!printed().includes("Listening")) await once(child.stdout, "data")
      const address = `http://127.0.0.1:${/"port":(\d+)/.exec(printed())?.[1]}`
      const found = await fetch(`${address}/foods?term=apple`)
      const blank = await fetch(`${address}/foods?term=`)
      const health = await fetch(`${address}/health`)
      expect([found.status, blank.status, health.status]).toEqual([200, 400, 200])
      expect(await found.json()).toHaveProperty("results.0.name", "Apple")
      expect([await blank.json(), await health.json()]).toEqual([{ error: "BadRequest" }, { token: "fresh" }])
      child.kill("SIGTERM")
      expect(await ended).toMatchObject({ code: 0, stderr: "" })
    }))

  it.live("does not start with a key that the service refuses, and says so in the program's own log", () =>
    Effect.gen(function*() {
      const settings = {
        NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${yield* portOf}`,
        NUTRITION_ADVISOR_LICENSE_KEY: key
      }
      const { code, stderr, stdout } = yield* run("express", [], { PORT: "0", ...settings })
      const lines = stdout.trim().split("\n").map((line) => JSON.parse(line))
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" })
      expect(lines).toMatchObject([
        { level: 40, error: "BadRequest", msg: expect.stringContaining("could not be exchanged") },
        { level: 60, err: { type: "BadRequest", operation: "token" } }
      ])
      expect(stdout).not.toContain(key)
    }).pipe(Effect.provide(SimulatorOnPort)))
})

describe("examples/service.ts without a token", () => {
  it.live("is healthy and not ready while exchanges fail", () =>
    Effect.promise(async () => {
      const { child, ended, printed } = start("service", [], {
        PORT: "0",
        NUTRITION_ADVISOR_BASE_URL: "http://127.0.0.1:1",
        NUTRITION_ADVISOR_LICENSE_KEY: key
      })
      while (!printed().includes("\n")) await once(child.stdout, "data")
      const address = /http:\S+/.exec(printed())?.[0]
      const ready = await fetch(`${address}/ready`)
      const health = await fetch(`${address}/health`)
      const body = await ready.json()
      const foods = await fetch(`${address}/foods?term=apple`)
      await health.body?.cancel()
      child.kill("SIGTERM")
      expect([ready.status, health.status]).toEqual([503, 200])
      expect(body).toEqual({ ready: false, error: "TransportError" })
      expect([foods.status, await foods.json()]).toEqual([503, { error: "Foods can't be searched at the moment." }])
      const { code, stderr, stdout } = await ended
      expect(stdout + stderr).toContain("The token exchange could not reach the service")
      expect(code).toBe(0)
    }))
})

const startHttpApi = async (settings: Record<string, string> = {}) => {
  const started = start("http-api", [], { PORT: "0", ...settings })
  const listening = /Listening on http:\/\/\S+:(\d+)/
  while (!listening.test(started.printed())) await once(started.child.stdout, "data")
  const address = `http://127.0.0.1:${listening.exec(started.printed())?.[1]}`
  return { ...started, address, ask: (path: string) => fetch(`${address}${path}`) }
}

describe("examples/http-api.ts", () => {
  it.live("answers with a food, with 400 for a blank term and 404 for an unknown food, and ends on SIGTERM", () =>
    Effect.promise(async () => {
      const { ask, child, ended } = await startHttpApi()
      const found = await ask("/foods/apple")
      expect([found.status, await found.json()]).toEqual([200, {
        name: "Apple",
        per100g: { energyKcal: 52, proteinG: 0.3 }
      }])
      const blank = await ask("/foods/%20")
      expect([blank.status, await blank.json()]).toEqual([400, { _tag: "BadRequest" }])
      const unknown = await ask("/foods/zzqqxx")
      expect([unknown.status, await unknown.json()]).toEqual([404, { _tag: "NotFound" }])
      child.kill("SIGTERM")
      expect((await ended).code).toBe(0)
    }))

  it.live("goes on, and ends with SIGTERM, where connections that ask for an upgrade have left", () =>
    Effect.promise(async () => {
      const { address, ask, child, ended } = await startHttpApi()
      await leaveUpgrades(address)
      expect(await Promise.race([ask("/foods/apple"), ended])).toHaveProperty("status", 200)
      child.kill("SIGTERM")
      expect((await ended).code).toBe(0)
    }))

  it.scopedLive("passes an outage of the token route on as 503, without a secret in body, header or log", () =>
    Effect.gen(function*() {
      const { provoke } = yield* Simulator.Simulator
      yield* provoke("token", "unavailable-retry-after")
      const settings = yield* settingsOfPort
      yield* Effect.promise(async () => {
        const { ask, child, ended } = await startHttpApi(settings)
        const response = await ask("/foods/apple")
        const body = await response.text()
        child.kill("SIGTERM")
        const { stderr, stdout } = await ended
        expect([response.status, body]).toEqual([503, "{\"_tag\":\"ServiceUnavailable\"}"])
        expect(stdout).toContain("The token exchange failed at the service with status 503")
        const shown = [body, JSON.stringify([...response.headers]), stdout, stderr].join()
        for (const secret of Object.values(settings)) expect(shown).not.toContain(secret)
      })
    }).pipe(Effect.provide(SimulatorOnPort)))

  it.scopedLive("passes a 429 of the service on with the time to wait, and any other trouble as 503", () =>
    Effect.gen(function*() {
      const { provoke } = yield* Simulator.Simulator
      const settings = yield* settingsOfPort
      const { ask, child, ended } = yield* Effect.promise(() => startHttpApi(settings))
      yield* provoke("search", "too-many-requests-retry-after")
      const busy = yield* Effect.promise(() => ask("/foods/apple"))
      expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "30"])
      yield* provoke("search", "html")
      const broken = yield* Effect.promise(() => ask("/foods/apple"))
      expect(broken.status).toBe(503)
      child.kill("SIGTERM")
      yield* Effect.promise(() => ended)
    }).pipe(Effect.provide(SimulatorOnPort)))
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

describe("examples/run-promise.ts", () => {
  it.live("shows one token for one layer, and a token per call for a layer per call", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run("run-promise")
      expect(stdout).toMatch(/one layer for the process: 1 token\n/)
      expect(stdout).toMatch(/a layer for each call: 3 tokens\n/)
      expect(code).toBe(0)
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

describe("examples/test-double.ts", () => {
  it.live("passes its own assertions", () =>
    Effect.map(run("test-double"), ({ code, stdout }) => {
      expect(stdout).toContain("answered, failed and recorded")
      expect(code).toBe(0)
    }))
})

describe("examples/other-routes.ts", () => {
  it.live("reads and writes at other routes, also after a revocation", () =>
    Effect.map(run("other-routes"), ({ code, stdout }) => {
      expect(stdout).toContain("GET 200 { asked: 'day=2026-11-20' }")
      expect(stdout).toContain("POST 201 { food: 'apple', grams: 182 }")
      expect(code).toBe(0)
    }))
})

const sharesOneToken = (place: string, settings: Record<string, string> = {}) =>
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

  it.live("shows an exchange per worker, and a warning each, where no Redis runs", () =>
    Effect.map(
      run("shared-token", ["redis"], { NUTRITION_ADVISOR_REDIS_URL: "redis://127.0.0.1:1" }),
      ({ code, stdout }) => {
        expect(stdout.match(/exchanged the license key by itself/g)).toHaveLength(3)
        expect(stdout).toContain("3 searches, 3 exchanges.")
        expect(code).toBe(0)
      }
    ))
})

RedisServer.describeWithRedis("examples/shared-token.ts over Redis", () => {
  it.scopedLive("shows one exchange for three workers", () =>
    Effect.flatMap(
      RedisServer.make(),
      ({ url }) => sharesOneToken("redis", { NUTRITION_ADVISOR_REDIS_URL: Redacted.value(url) })
    ))
})

describe("examples/rotating-key.ts", () => {
  it.live("reads the key anew at each exchange, and says when it can't", () =>
    Effect.map(run("rotating-key"), ({ code, stdout }) => {
      expect(stdout).toContain("2 exchanges, each with the key of its day; 3 searches sent")
      expect(stdout).toContain("The license key is not available (the key file can't be read).")
      expect(code).toBe(0)
    }))
})

describe("examples/resilient.ts", () => {
  it.live("prints what a cache, a retry and a throttle have saved", () =>
    Effect.map(run("resilient"), ({ code, stderr, stdout }) => {
      expect(stdout).toContain("200 searches for oats, 99 joined the first one, 100 were answered from memory.")
      expect(stdout).toContain("3 of 3 were answered.")
      expect(stdout).toContain("after one 429, 100 of 100 searches were not sent")
      expect(stdout).toContain("In all 305 searches, of which the service saw 9.")
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    }))
})
