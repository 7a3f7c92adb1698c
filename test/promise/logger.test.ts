import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { expect, expectTypeOf, it, vi } from "@effect/vitest"
import { Cause, Effect, Layer, Logger, LogLevel, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import * as Advisor from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import { wrapping } from "../support/leaks/clients.js"
import { simulatedClient } from "./simulatedClient.js"

const failed = expect.stringContaining("The license key could not be exchanged.")

/** The arguments of each call of a logger, by level. */
const recording = () => {
  const calls: Array<readonly [level: string, ...args: ReadonlyArray<unknown>]> = []
  const at = (level: string) => (...args: ReadonlyArray<unknown>) => void calls.push([level, ...args])
  return {
    calls,
    logger: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }
  }
}

/** Two searches: the token exchange of the first fails, the second succeeds. */
const failsOnce = async (options: Advisor.ClientOptions) => {
  await using world = simulatedClient({ refresh: { attempts: 1, backoffStart: 1 }, ...options })
  await world.run(({ respondNext }) => respondNext("token", { status: 503 }))
  await world.advisor.search("oats").catch(() => {})
  await vi.waitFor(() => world.advisor.search("oats"))
}

const warned = (calls: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]>) =>
  calls.filter(([level]) => level === "warn")

const spied = () => ({
  stdout: vi.spyOn(console, "log").mockReturnValue(),
  stderr: vi.spyOn(console, "error").mockReturnValue()
})

const wrongKey = Redacted.make("unknown-key")

const { baseUrl } = Simulator

const unableToExchange = Layer.provide(
  NutritionAdvisor.layer({ baseUrl, licenseKey: wrongKey }),
  Simulator.layerHttpClient()
)

it.each<readonly [string, () => Advisor.Client]>([
  [
    "createClient",
    () => Advisor.createClient({ baseUrl, licenseKey: wrongKey, httpClient: Simulator.layerHttpClient() })
  ],
  ["fromLayer", () => Advisor.fromLayer(unableToExchange)]
])("standard error: %s logs a failed exchange to it, without the license key", async (_, clientOf) => {
  const { stderr, stdout } = spied()
  await using advisor = clientOf()
  await advisor.search("oats").catch(() => {})
  expect(stdout).not.toHaveBeenCalled()
  expect(stderr.mock.calls).toEqual([[failed]])
  expect(String(stderr.mock.calls)).not.toContain("unknown-key")
})

const onStdout = Logger.make(({ message }) => console.log(String(message)))

it.each<readonly [string, Layer.Layer<never>]>([
  ["replaces the default logger", Logger.replace(Logger.defaultLogger, onStdout)],
  ["adds a logger", Logger.add(onStdout)]
])("standard error: fromLayer logs nothing to it if the layer %s", async (_, logger) => {
  const { stderr, stdout } = spied()
  await using advisor = Advisor.fromLayer(Layer.provide(unableToExchange, logger))
  await advisor.search("oats").catch(() => {})
  expect(stderr).not.toHaveBeenCalled()
  expect(stdout.mock.calls).toEqual([[failed]])
})

it("logger: each event is one call with a message and plain fields", async () => {
  const { calls, logger } = recording()
  await failsOnce({ logger })
  const fields = { error: "ServerError", status: 503, retryAt: expect.toSatisfy(Number.isInteger) }
  expect(warned(calls)).toEqual([["warn", failed, fields]])
  expect(calls).toContainEqual(["info", expect.stringContaining("has a new token"), {}])
  expect(calls.filter(([level]) => level === "debug")).toContainEqual(["debug", expect.any(String), {
    reason: "missing"
  }])
})

it("logger: neither the client nor the runtime logs a failed search", async () => {
  const { calls, logger } = recording()
  await using world = simulatedClient({ logger })
  await world.run(({ respondAlways }) => respondAlways("search", { status: 503 }))
  for (const term of ["oats", "rice"]) {
    await expect(world.advisor.search(term)).rejects.toMatchObject({ status: 503 })
  }
  expect(JSON.stringify(calls)).not.toMatch(/[Ff]iber|timestamp|level=|unhandled/)
  expect(warned(calls)).toEqual([])
})

it("logger: with a logger, nothing is written to standard output or standard error", async () => {
  const { stderr, stdout } = spied()
  await failsOnce({ logger: recording().logger })
  for (const spy of [stderr, stdout]) expect(spy).not.toHaveBeenCalled()
})

/** The overloads of the methods of pino and winston. */
interface Pino {
  <T extends object>(fields: T, message?: string, ...args: ReadonlyArray<unknown>): void
  (message: string, ...args: ReadonlyArray<unknown>): void
}
interface Winston {
  (message: string, ...meta: ReadonlyArray<object>): unknown
  (infoObject: object): unknown
}

expectTypeOf<Record<keyof Advisor.ClientLogger, Pino> | Record<keyof Advisor.ClientLogger, Winston>>()
  .toExtend<Advisor.ClientLogger>()

it.each([
  ["bindings, such as pino", "bindings"],
  ["addSerializers, such as bunyan", "addSerializers"]
])("logger: a logger with %s gets the fields before the message", async (_, method) => {
  const { calls, logger } = recording()
  await failsOnce({ logger: Object.assign(logger, { [method]: () => ({}) }) })
  expect(warned(calls)).toEqual([["warn", expect.objectContaining({ status: 503 }), failed]])
})

it("logger: a console prints the message and its fields on one line", async () => {
  const [warn, info] = [vi.spyOn(console, "warn").mockReturnValue(), vi.spyOn(console, "info").mockReturnValue()]
  vi.spyOn(console, "debug").mockReturnValue()
  await failsOnce({ logger: console })
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^The license key could not .* \{.*"error":"ServerError".*\}$/)]
  ])
  expect(info.mock.calls).toContainEqual([expect.stringMatching(/^The client has a new token\. [^{}\n]*$/)])
})

it("logger: its methods are called with the logger as `this`", async () => {
  const warn = vi.fn()
  const logger = { ...recording().logger, warn }
  await failsOnce({ logger })
  expect(warn.mock.contexts).toHaveLength(1)
  expect(warn.mock.contexts[0]).toBe(logger)
})

it("logger: if a layer logs the headers of a request, the token and the customer identifier are hidden", async () => {
  const { calls, logger } = recording()
  const logsHeaders = HttpClient.tapRequest(({ headers }: HttpClientRequest.HttpClientRequest) =>
    Effect.annotateLogs(Effect.logInfo("sent", headers), { headers, request: { headers } })
  )
  const httpClient = wrapping(Simulator.layerHttpClient(), logsHeaders)
  await using world = simulatedClient({ logger, httpClient, serviceId: "customer-7" })
  await world.advisor.search("oats").catch(() => {})
  const shown = JSON.stringify(calls)
  expect(shown).toContain("user-agent")
  expect(shown).not.toMatch(/Bearer|customer-7/)
})

const annotations = { size: 3n, error: new Error("refused"), id: 7, tags: ["a"], none: null }

const texts = { size: "3", error: "Error: refused", id: 7, tags: ["a"], none: null }

const withCause = Effect.logError("no connection", Cause.fail(new Error("refused")))

it.each<readonly [what: string, logs: Effect.Effect<void>, call: ReadonlyArray<unknown>]>([
  ["the cause of an error is a field", withCause, ["error", "no connection", {
    cause: expect.stringContaining("refused")
  }]],
  [
    "a bigint or an Error in an annotation becomes text",
    Effect.annotateLogs(Effect.logInfo("started"), annotations),
    ["info", "started", texts]
  ]
])("logger: if a layer logs, %s", async (_, logs, call) => {
  const { calls, logger } = recording()
  const httpClient = Layer.tap(Simulator.layerHttpClient(), () => logs)
  await using world = simulatedClient({ logger, httpClient })
  await world.advisor.search("oats")
  expect(calls).toContainEqual(call)
})

it.each([
  ["throws", () => {
    throw new Error("the stream has ended")
  }],
  ["rejects", () => Promise.reject(new Error("the log server does not respond"))]
])("logger: a logger that %s fails no search, and ends no process", async (_, fails) => {
  await using world = simulatedClient({ logger: { debug: fails, info: fails, warn: fails, error: fails } })
  await world.run(({ respondNext }) => respondNext("token", { status: 503 }))
  expect(await world.advisor.search("oats")).toHaveProperty("results")
})

it("fromLayer: the logger of the layer gets debug lines only if the layer sets that log level", async () => {
  const messages: Array<unknown> = []
  const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => messages.push(message)))
  const layer = NutritionAdvisorTest.layer({ search: (term) => Effect.logDebug(term) })
  await using quiet = Advisor.fromLayer(Layer.merge(layer, logger))
  await using verbose = Advisor.fromLayer(Layer.mergeAll(layer, logger, Logger.minimumLogLevel(LogLevel.Debug)))
  await quiet.search("quiet")
  for (const term of ["first", "second"]) await verbose.search(term)
  expect(messages.flat()).toEqual(["first", "second"])
})
