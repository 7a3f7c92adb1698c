import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, type Exit, Layer, Option, Redacted } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "./doubles/arranged.js"
import { clients } from "./leaks/clients.js"
import { clientOf, diesOnInterruption, type Double, doubles, type Place } from "./leaks/doubles.js"
import * as LeakyAdvisor from "./leaks/LeakyAdvisor.js"
import { LeakyDispatcher } from "./leaks/LeakyDispatcher.js"
import * as LocalService from "./leaks/LocalService.js"
import { type End, type Outcome, outcomes, settings } from "./leaks/outcomes.js"
import * as Replies from "./leaks/replies.js"
import { allAround, type Around } from "./leaks/resilience.js"
import * as Secrets from "./leaks/secrets.js"
import { observe, withoutPlaces } from "./leaks/sinks.js"
import * as Supervising from "./leaks/supervising.js"

const places: ReadonlyArray<Place> = ["token call", "search"]

const leaksIn = (sinks: ReadonlyMap<string, string>) =>
  [...sinks].flatMap(([sink, text]) => Secrets.shownIn(text).slice(0, 1).map((secret) => `${sink} shows ${secret}`))

const endOf = (exit: Exit.Exit<unknown, unknown>) =>
  exit._tag === "Success"
    ? "success"
    : Cause.isInterruptedOnly(exit.cause)
    ? "interruption"
    : Option.getOrElse(Cause.failureOption(exit.cause), () => "defect")

const expectEnd = (exit: Exit.Exit<unknown, unknown>, end: End) =>
  typeof end === "string" ? expect(endOf(exit)).toBe(end) : expect(endOf(exit)).toMatchObject(end)

const hurried: Pick<NutritionAdvisor.Options, "requestTimeout" | "tokenTimeout"> = {
  tokenTimeout: "400 millis",
  requestTimeout: "400 millis"
}

const patient: typeof hurried = { tokenTimeout: "10 seconds", requestTimeout: "10 seconds" }

const timeoutsOf = ({ end, isInterrupted }: Outcome) =>
  isInterrupted === true
    ? { ...patient, tokenTimeout: "1 second" as const }
    : typeof end !== "string" && end["reason"] === "Timeout"
    ? hurried
    : patient

const optionsOf = (outcome: Outcome, service: LocalService.LocalService): NutritionAdvisor.Options => {
  const more = outcome.options?.(service) ?? {}
  return {
    baseUrl: service.origin,
    licenseKey: Redacted.make(Secrets.key),
    ...timeoutsOf(outcome),
    ...more,
    refresh: { attempts: 2, ...more.refresh }
  }
}

const run = (outcome: Outcome, client: Layer.Layer<HttpClient.HttpClient>, around?: Around) =>
  Effect.gen(function*() {
    const service = yield* LocalService.start({
      token: outcome.token ?? Replies.issue,
      data: outcome.data ?? Replies.found
    })
    const options = optionsOf(outcome, service)
    const below = NutritionAdvisor.layer(options)
    const layer = around === undefined ? below : Layer.provideMerge(around, below)
    const { serviceId: _, ...printed } = options
    const observation = yield* observe({
      layer: Layer.provide(layer, client),
      program: outcome.program ?? NutritionAdvisor.search("apple"),
      printed: [printed, layer],
      sent: () => [service.received.map((request) => withoutPlaces(request)), service.receivedElsewhere],
      ...(outcome.isInterrupted === true ? { interruptedAt: service.hanging } : {})
    })
    return { ...observation, service }
  })

for (const { layer, name } of clients) {
  describe(`with ${name} no secret shows`, () => {
    for (const outcome of outcomes) {
      testLive(`in ${outcome.title}`, function*() {
        const { exit, service, sinks } = yield* run(outcome, layer)
        expect(leaksIn(sinks)).toEqual([])
        expectEnd(exit, outcome.end)
        expect(service.receivedElsewhere).toEqual([])
      })
    }

    for (const [title, field, options] of settings) {
      testLive(`where ${title}`, function*() {
        const complete = { baseUrl: "https://service.example", licenseKey: Redacted.make(Secrets.key), ...options }
        const { exit, sinks } = yield* observe({
          layer: Layer.provide(NutritionAdvisor.layer(complete), layer),
          program: NutritionAdvisor.search("apple"),
          printed: [],
          sent: () => []
        })
        expect(leaksIn(sinks)).toEqual([])
        expectEnd(exit, { _tag: "ConfigurationError", field })
      })
    }
  })
}

/** The layers decode what a search below them found, so that search succeeds with a payload that its caller refuses. */
const withoutPayload = ({ end }: Outcome, sinks: ReadonlyMap<string, string>) =>
  typeof end !== "string" && end["reason"] === "Schema" && end["operation"] === "search"
    ? new Map([...sinks].filter(([sink]) => sink !== "Exits of spans" && !Supervising.sinks.includes(sink)))
    : sinks

describe("with SearchCache, RequestRetry and Throttle around UndiciClient no secret shows", () => {
  for (const outcome of outcomes) {
    testLive(`in ${outcome.title}`, function*() {
      const { exit, service, sinks } = yield* run(outcome, Layer.orDie(UndiciClient.layer()), allAround)
      expect(leaksIn(withoutPayload(outcome, sinks))).toEqual([])
      expectEnd(exit, outcome.end)
      expect(service.receivedElsewhere).toEqual([])
    })
  }
})

describe("with a client of one's own no secret shows", () => {
  const observeClient = (
    client: Layer.Layer<HttpClient.HttpClient, NutritionAdvisorError.ConfigurationError>,
    interruptedAt?: Promise<void>
  ) => {
    const layer = NutritionAdvisor.layer({
      baseUrl: "https://service.example",
      licenseKey: Redacted.make(Secrets.key),
      ...hurried,
      refresh: { attempts: 2 }
    })
    return observe({
      layer: Layer.provide(layer, client),
      program: NutritionAdvisor.search("apple"),
      printed: [layer],
      sent: () => [],
      ...(interruptedAt === undefined ? {} : { interruptedAt })
    })
  }

  const observeDouble = (double: Double, at: Place, interruptedAt?: Promise<void>) =>
    observeClient(Layer.succeed(HttpClient.HttpClient, clientOf(double, at)), interruptedAt)

  for (const at of places) {
    testLive(`where its dispatcher fails with the request in its hands at a ${at}`, function*() {
      const { exit, sinks } = yield* observeClient(UndiciClient.layerFromDispatcher(new LeakyDispatcher(at)))
      expect(leaksIn(sinks)).toEqual([])
      expectEnd(exit, { _tag: "TransportError", reason: "Connection" })
    })

    for (const double of doubles) {
      testLive(`where it ${double.title} at a ${at}`, function*() {
        const { exit, sinks } = yield* observeDouble(double, at)
        expect(leaksIn(sinks)).toEqual([])
        expectEnd(exit, double.end ?? { _tag: "TransportError" })
      })
    }

    testLive(`where it dies while its caller interrupts a ${at}`, function*() {
      const { exit, sinks } = yield* observeDouble(
        diesOnInterruption,
        at,
        Effect.runPromise(Effect.sleep("50 millis"))
      )
      expect(exit._tag).toBe("Failure")
      expect(leaksIn(sinks)).toEqual([])
    })
  }
})

describe("the collector of what shows", () => {
  const sinksOf = (program: Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>, isDead: boolean) =>
    Effect.gen(function*() {
      const service = yield* LocalService.start({ token: Replies.plan, data: Replies.plan })
      const baseUrl = isDead ? yield* LocalService.deadOrigin : service.origin
      const { sinks } = yield* observe({
        layer: Layer.provide(LeakyAdvisor.layer(baseUrl), NodeHttpClient.layerUndici),
        program,
        printed: [{ licenseKey: Secrets.key }],
        sent: () => service.received.map((request) => withoutPlaces(request))
      })
      return new Set([...sinks].filter(([, text]) => Secrets.shownIn(text).length > 0).map(([sink]) => sink))
    })

  const search = NutritionAdvisor.search("apple")

  const shown = [
    "Logger.stringLogger",
    "Logger.logfmtLogger",
    "Logger.jsonLogger",
    "Logger.structuredLogger",
    "Logger.prettyLogger",
    "OpenTelemetry spans",
    "OpenTelemetry log records",
    "spans of a Tracer",
    "Exits of spans",
    ...Supervising.sinks,
    "value of a success",
    "services, context, status and token",
    "options and layers",
    "metrics",
    "what reaches the service"
  ]

  testLive.each(shown)("sees a secret in %s where a careless client shows it", function*(sink) {
    expect(yield* sinksOf(search, false)).toContain(sink)
  })

  const failed = [
    "message of the error",
    "stack of the error",
    "String of the error",
    "JSON of the error",
    "inspect of the error",
    "everything that the error reaches",
    "Cause.pretty",
    "Cause",
    "Exit",
    "Exits of spans",
    ...Supervising.sinks,
    "FiberFailure"
  ]

  testLive.each(failed)("sees a secret in %s where a careless client fails", function*(sink) {
    expect(yield* sinksOf(search, true)).toContain(sink)
  })

  for (const { name, of } of Secrets.forms) {
    it(`knows each secret that is ${name}`, () => {
      for (const secret of [Secrets.key, Secrets.token, Secrets.renewedToken, Secrets.customerId, Secrets.rotatedKey]) {
        expect(Secrets.shownIn(`before ${of(secret)} after`).length).toBeGreaterThan(0)
        expect(Secrets.shownIn(JSON.stringify({ nested: JSON.stringify({ text: of(secret) }) })).length)
          .toBeGreaterThan(0)
        expect(Secrets.shownIn(of(secret).slice(0, 20)).length).toBeGreaterThan(0)
      }
    })
  }

  it("knows no secret in a text without one", () => {
    expect(Secrets.shownIn("{\"licenseKey\":\"<redacted>\",\"term\":\"apple\"}")).toEqual([])
  })
})
