import { EventEmitter, getEventListeners } from "node:events"
import { setImmediate } from "node:timers/promises"
import { expect, it, vi } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import * as Advisor from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"
import { z } from "zod"
import { proxied } from "../support/doubles/proxied.js"
import { allOptions } from "../support/tables/searchOptions.js"
import { clientWithSearch, simulatedClient } from "./simulatedClient.js"

const closed = (operation: "search" | "request") => new Advisor.TransportError({ operation, reason: "Closed" })

/** A search that ends only if it is interrupted, and a function that is called each time. */
const hanging = () => {
  const interrupted = vi.fn()
  return { interrupted, search: () => Effect.onInterrupt(Effect.never, () => Effect.sync(interrupted)) }
}

/** A client whose layer is already built, so that a search runs the given code before it returns its promise. */
const beginning = async (run: () => void) => {
  const beginsWith = Effect.zipRight(Effect.sync(run), Effect.never)
  const advisor = clientWithSearch((term) => term === "first" ? Effect.succeed({}) : beginsWith)
  await advisor.search("first")
  return advisor
}

const searchPath = "/v2/products/napi/food/search/semantic?term=a"

const nativeSignal = (reason?: unknown) => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(reason) }
}

/** The listeners of a signal in a Proxy are called with the inner signal as `this`. */
const proxiedSignal = () => {
  const { abort, signal } = nativeSignal("left")
  return { signal: proxied(signal), abort }
}

/** A signal as in old AbortController packages: it has no reason, and may emit its event through an EventEmitter. */
const oldSignal = () => {
  const emitter = new EventEmitter()
  const signal = Object.assign(new EventTarget(), {
    aborted: false,
    addEventListener: emitter.on.bind(emitter),
    removeEventListener: emitter.off.bind(emitter)
  })
  const abort = () => {
    signal.aborted = true
    emitter.emit("abort")
  }
  return { signal: signal as EventTarget as AbortSignal, abort }
}

const reason = new Error("the caller has left")

it("signal: with an aborted signal, a call rejects with the reason before anything is checked or sent", async () => {
  await using world = simulatedClient()
  const signal = AbortSignal.abort(reason)
  const { fetch, search, searchAs } = world.advisor
  const calls = [
    search(" ", { signal }),
    searchAs(Schema.Never)("oats", { signal }),
    fetch("//elsewhere.example", { signal })
  ]
  expect(await Promise.allSettled(calls)).toEqual(Array(3).fill({ status: "rejected", reason }))
  expect(world.builds()).toBe(0)
})

it("signal: aborting it interrupts its calls, which reject with its reason", async () => {
  const { interrupted, search } = hanging()
  await using advisor = clientWithSearch(search)
  const { abort, signal } = nativeSignal(reason)
  const calls = ["oats", "rice"].map((term) => advisor.search(term, { signal }).catch((error: unknown) => error))
  await setImmediate()
  abort()
  expect(await Promise.all(calls)).toEqual([reason, reason])
  expect(interrupted).toHaveBeenCalledTimes(2)
})

it.each<readonly [string, () => ReturnType<typeof nativeSignal>, unknown]>([
  ["null as its reason", () => nativeSignal(null), null],
  ["the default reason", nativeSignal, expect.objectContaining({ name: "AbortError" })],
  ["a Proxy around it", proxiedSignal, "left"],
  ["no reason and the events of an EventEmitter", oldSignal, expect.objectContaining({ name: "AbortError" })]
])("signal: a call rejects if a signal with %s is aborted before or during the call", async (_, signalOf, expected) => {
  await using advisor = clientWithSearch(() => Effect.never)
  const { abort, signal } = signalOf()
  const call = advisor.search("oats", { signal }).catch((error: unknown) => error)
  await setImmediate()
  abort()
  expect(await call).toEqual(expected)
  await expect(advisor.search("oats", { signal })).rejects.toEqual(expected)
})

it.each<readonly [string, (abort: () => void) => Promise<Advisor.Client>]>([
  ["by the search itself", beginning],
  ["while the layer is built", async (abort) => {
    const layer = NutritionAdvisorTest.layer({ search: () => Effect.never })
    return Advisor.fromLayer(Layer.provide(layer, Layer.effectDiscard(Effect.sync(abort))))
  }]
])("signal: a call that is starting rejects if its signal is aborted %s", async (_, clientOf) => {
  const { abort, signal } = nativeSignal(reason)
  await using advisor = await clientOf(abort)
  await expect(advisor.search("oats", { signal })).rejects.toBe(reason)
})

it("signal: aborting it while the layer is built doesn't affect other calls", async () => {
  const slow = Layer.effectDiscard(Effect.promise(() => setImmediate()))
  await using advisor = Advisor.fromLayer(
    Layer.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed(1) }), slow)
  )
  const { abort, signal } = nativeSignal(reason)
  const leaving = advisor.search("oats", { signal }).catch((error: unknown) => error)
  const staying = advisor.search("oats")
  abort()
  expect(await Promise.all([leaving, staying])).toEqual([reason, 1])
})

it("signal: a hundred calls with one signal leak no listeners", async () => {
  const warn = vi.fn()
  process.on("warning", warn)
  const { signal } = new AbortController()
  await using world = simulatedClient()
  await Promise.all(Array.from({ length: 100 }, () => world.advisor.search("oats", { signal })))
  await expect(world.advisor.search("", { signal })).rejects.toMatchObject({ _tag: "BadRequest" })
  await world.advisor.fetch(searchPath, { signal })
  expect(getEventListeners(signal, "abort")).toHaveLength(0)
  await setImmediate()
  process.off("warning", warn)
  expect(warn).not.toHaveBeenCalled()
})

const timedOut = (operation: "search" | "request") => new Advisor.TransportError({ operation, reason: "Timeout" })

it("timeout: a slower search is interrupted and rejects with TransportError \"Timeout\"", async () => {
  const { interrupted, search } = hanging()
  // On a busy machine, the timeout may elapse before the search starts.
  const started = vi.fn()
  await using advisor = clientWithSearch(() => Effect.zipRight(Effect.sync(started), search()))
  await expect(advisor.search("oats", { timeout: 1 })).rejects.toEqual(timedOut("search"))
  const searchAs = advisor.searchAs(Schema.Unknown)
  await expect(searchAs("oats", { timeout: "1 millis" })).rejects.toEqual(timedOut("search"))
  expect(interrupted).toHaveBeenCalledTimes(started.mock.calls.length)
})

it("timeout: it includes the time to build the layer", async () => {
  const advisor = Advisor.fromLayer(
    Layer.provide(NutritionAdvisorTest.layer({}), Layer.effectDiscard(Effect.never))
  )
  await expect(advisor.search("oats", { timeout: 1 })).rejects.toEqual(timedOut("search"))
  await advisor.close()
})

it("timeout: a slower fetch rejects with TransportError \"Timeout\"", async () => {
  await using world = simulatedClient()
  await world.run(({ setLatency }) => setLatency("search", "1 hour"))
  await expect(world.advisor.fetch(searchPath, { timeout: 20 })).rejects.toEqual(timedOut("request"))
})

it.each<readonly [invalid: string, options: object, detail: string]>([
  ["the timeout NaN", { timeout: NaN }, "the timeout is not a duration"],
  ["the timeout \"5 parsecs\"", { timeout: "5 parsecs" }, "the timeout is not a duration"],
  ["an AbortController as its signal", { signal: new AbortController() }, "the signal is not an AbortSignal"],
  ["false as its signal", { signal: false }, "the signal is not an AbortSignal"]
])("call options: a call with %s is not sent and rejects with BadRequest", async (_, options, detail) => {
  await using world = simulatedClient()
  const badRequest = { _tag: "BadRequest", detail }
  await expect(world.advisor.search("oats", options)).rejects.toMatchObject(badRequest)
  await expect(world.advisor.fetch(searchPath, options)).rejects.toMatchObject(badRequest)
  expect(await world.run(({ requests }) => requests)).toEqual([])
})

it.each<readonly [what: string, schema: unknown]>([
  ["a schema of zod 3.23", { parse: () => undefined, safeParse: () => ({ success: true }) }],
  ["a JSON Schema", { type: "object" }],
  ["a method of zod that isn't called", () => undefined],
  ["undefined", undefined]
])("searchAs: it throws a TypeError that names what it needs if it gets %s", async (_, schema) => {
  await using world = simulatedClient()
  expect(() => world.advisor.searchAs(schema as Schema.Schema<unknown>))
    .toThrow(new TypeError("searchAs needs an Effect Schema or a Standard Schema, such as one from zod 3.24."))
})

it("timeout: a call that finishes in time resolves with its payload", async () => {
  await using advisor = clientWithSearch(() => Effect.delay(Effect.succeed("payload"), "20 millis"))
  expect(await advisor.search("oats", { timeout: "1 hour" })).toBe("payload")
})

it("search options: all of them are passed to the layer, except signal and timeout", async () => {
  const searches: Array<unknown> = []
  await using advisor = clientWithSearch((term, options) => Effect.sync(() => searches.push({ term, options })))
  const passed = { ...allOptions(0), tenant: "north" }
  const options = { ...passed, signal: new AbortController().signal, timeout: 60_000 }
  await advisor.search("oats", options)
  await advisor.searchAs(Schema.Unknown)("rice", options)
  expect(searches).toEqual([{ term: "oats", options: passed }, { term: "rice", options: passed }])
})

it("close: pending and later calls reject with TransportError \"Closed\"", async () => {
  await using world = simulatedClient()
  await world.advisor.search("oats")
  await world.run(({ setLatency }) => setLatency("search", "1 hour"))
  const call = () =>
    Promise.allSettled([
      world.advisor.search("oats"),
      world.advisor.fetch(searchPath),
      world.advisor.searchAs(z.unknown())("oats")
    ])
  const pending = call()
  await setImmediate()
  await world.advisor.close()
  const rejected = (["search", "request", "search"] as const).map((operation) => ({
    status: "rejected",
    reason: closed(operation)
  }))
  expect(await pending).toEqual(rejected)
  expect(await call()).toEqual(rejected)
})

it("close: if the layer is still being built, the build and the waiting calls end", async () => {
  const { interrupted, search } = hanging()
  const advisor = Advisor.fromLayer(Layer.provide(NutritionAdvisorTest.layer({}), Layer.effectDiscard(search())))
  const call = advisor.search("oats").catch((error: unknown) => error)
  await setImmediate()
  await advisor.close()
  expect(await call).toEqual(closed("search"))
  expect(interrupted).toHaveBeenCalledTimes(1)
})

it("close: a search that closes the client as it starts rejects with TransportError \"Closed\"", async () => {
  const advisor: Advisor.Client = await beginning(() => void advisor.close())
  await expect(advisor.search("oats")).rejects.toEqual(closed("search"))
})

it("close: a search that the layer interrupts in an open client rejects with the reason \"Aborted\"", async () => {
  await using advisor = clientWithSearch(() => Effect.interrupt)
  await expect(advisor.search("oats")).rejects.toMatchObject({ _tag: "TransportError", reason: "Aborted" })
})

it("close: calls end before the layer is released, which happens once", async () => {
  const events: Array<string> = []
  const note = (event: string) =>
    Effect.zipRight(Effect.promise(() => setImmediate()), Effect.sync(() => events.push(event)))
  const search = () => Effect.onInterrupt(Effect.never, () => note("search"))
  const scope = Layer.scopedDiscard(Effect.addFinalizer(() => note("layer")))
  const calls: Array<Promise<unknown>> = []
  {
    await using advisor = Advisor.fromLayer(Layer.merge(NutritionAdvisorTest.layer({ search }), scope))
    calls.push(advisor.search("oats").catch((error: unknown) => error))
    await setImmediate()
    await Promise.all([advisor.close(), advisor.close()])
  }
  expect(events).toEqual(["search", "layer"])
  expect(await Promise.all(calls)).toEqual([closed("search")])
})
