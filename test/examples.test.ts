import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"

const root = fileURLToPath(new URL("..", import.meta.url))

const { NUTRITION_ADVISOR_BASE_URL: _, NUTRITION_ADVISOR_LICENSE_KEY: __, ...environment } = process.env

const start = (example: string, args: ReadonlyArray<string> = [], settings: Record<string, string> = {}) => {
  const child = spawn(process.execPath, ["--import", "tsx", `examples/${example}.ts`, ...args], {
    cwd: root,
    env: { ...environment, ...settings }
  })
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk) => {
    stdout += chunk
  })
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  const ended = once(child, "exit").then(([code]) => ({ code, stdout, stderr }))
  return { child, ended, printed: () => stdout }
}

const run = (example: string, args?: ReadonlyArray<string>, settings?: Record<string, string>) =>
  Effect.promise(() => start(example, args, settings).ended)

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
      const { code, stdout } = yield* run("search", ["banana"], {
        NUTRITION_ADVISOR_BASE_URL: `http://127.0.0.1:${yield* portOf}`,
        NUTRITION_ADVISOR_LICENSE_KEY: Redacted.value(Simulator.licenseKey)
      })
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
    }, /baseUrl must be an absolute https address/))

  it.live("says in one sentence that half of the settings are missing", () =>
    failsWithOneSentence(["banana"], { NUTRITION_ADVISOR_LICENSE_KEY: key }, /NUTRITION_ADVISOR_BASE_URL/))
})

describe("examples/service.ts", () => {
  it.live("serves foods and health with one token and ends on SIGTERM", () =>
    Effect.promise(async () => {
      const { child, ended, printed } = start("service", [], { PORT: "0" })
      while (!printed().includes("\n")) await once(child.stdout, "data")
      const address = /http:\S+/.exec(printed())?.[0]
      const found = await fetch(`${address}/foods?term=apple`)
      const blank = await fetch(`${address}/foods?term=`)
      const health = await fetch(`${address}/health`)
      expect([found.status, blank.status, health.status]).toEqual([200, 400, 200])
      expect(await found.json()).toHaveProperty("results.0.name", "Apple")
      expect(await health.json()).toMatchObject({ token: "fresh", lastFailure: null })
      child.kill("SIGTERM")
      expect((await ended).code).toBe(0)
    }))
})

describe("examples/run-promise.ts", () => {
  it.live("shows one token for one layer, and a token per call with a warning for a layer per call", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run("run-promise")
      expect(stdout).toMatch(/one layer for the process: 1 token\n/)
      expect(stdout).toMatch(/a layer for each call: 3 tokens\n/)
      expect(stdout.match(/level=WARN/g)).toHaveLength(1)
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

describe("examples/rotating-key.ts", () => {
  it.live("reads the key anew at each exchange, and says when it can't", () =>
    Effect.map(run("rotating-key"), ({ code, stdout }) => {
      expect(stdout).toContain("2 exchanges, each with the key of its day; 3 searches sent")
      expect(stdout).toContain("The license key is not available (the key file can't be read).")
      expect(code).toBe(0)
    }))
})
