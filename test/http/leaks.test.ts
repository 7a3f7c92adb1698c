import type { HttpClientError } from "@effect/platform"
import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { AccessToken, NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { providerOf } from "../support/doubles/providerOf.js"
import { clients } from "../support/leaks/clients.js"
import { leaksOf } from "../support/leaks/leaksOf.js"
import { type Outcome, outcomes } from "../support/leaks/outcomes.js"
import * as Secrets from "../support/leaks/secrets.js"
import { collectOutputs } from "../support/leaks/sinks.js"

describe("secrets, raw or encoded", () => {
  const clientOf = (outcome: Outcome, index: number) =>
    clients.find(({ name }) => name === outcome.clientName) ?? clients[index % clients.length]

  const inTurn = outcomes.map((outcome, index) => [outcome.title, outcome, clientOf(outcome, index)] as const)

  it.scopedLive.each(inTurn)("no output contains a secret after %s", ([, outcome, client]) =>
    Effect.gen(function*() {
      const seen = yield* leaksOf(outcome, client?.layer ?? Layer.die("no client"))
      expect(seen).toEqual({ end: outcome.end, leaks: {}, elsewhere: [] })
    }))

  it("these tests cover each error and each reason of Forbidden", () => {
    const ends = new Set(outcomes.map(({ end }) => end.split(" ")[0]))
    expect(NutritionAdvisorError.errors.filter(({ _tag }) => !ends.has(_tag))).toEqual([])
    const { literals } = NutritionAdvisorError.ForbiddenReason
    expect(literals.filter((reason) => !outcomes.some(({ end }) => end === `Forbidden ${reason}`))).toEqual([])
  })
})

describe("secrets with a custom HttpClient", () => {
  it.live.each<readonly [string, (error: Error) => Effect.Effect<never, HttpClientError.HttpClientError>]>([
    ["dies with the request as its defect", Effect.die],
    ["throws the request object", (error) => {
      throw error
    }],
    ["interrupts itself and dies", (error) => Effect.ensuring(Effect.interrupt, Effect.die(error))]
  ])("no output contains a secret if the client %s", ([, fails]) =>
    Effect.gen(function*() {
      const client = HttpClient.make((request) => fails(Object.assign(new Error(JSON.stringify(request)), { request })))
      const seen = yield* leaksOf({ title: "", end: "" }, Layer.succeed(HttpClient.HttpClient, client))
      expect(seen).toEqual({ end: "TransportError Connection", leaks: {}, elsewhere: [] })
    }).pipe(Effect.scoped))
})

/** A client that leaks secrets in every way. */
const careless = (fails: boolean) => {
  const headers = { authorization: `Bearer ${Secrets.token}`, "service-id": Secrets.customerId }
  const failure = Object.assign(new NutritionAdvisorError.BadRequest({ operation: "search", detail: Secrets.key }), {
    cause: headers
  })
  const call = Effect.log("called with", headers).pipe(
    Effect.zipLeft(Metric.increment(Metric.tagged(Metric.counter("careless"), "key", `${Secrets.key}${fails}`))),
    Effect.zipRight(fails ? Effect.fail(failure) : Effect.succeed(headers)),
    Effect.withSpan("careless", { attributes: headers })
  )
  const token = AccessToken.make({ value: "", serviceId: "", receivedAt: 0, expiresAt: 1 })
  const httpClient = HttpClient.makeWith(() => Effect.die(headers), Effect.succeed)
  return Layer.merge(
    Layer.succeed(NutritionAdvisor.NutritionAdvisor, {
      search: () => call,
      searchAs: () => () => Effect.die(headers),
      httpClient
    }),
    providerOf(Object.assign(token, headers))
  )
}

describe("leak detector with a careless client", () => {
  const always = [
    "Exits of spans",
    "Logger.jsonLogger",
    "Logger.logfmtLogger",
    "Logger.prettyLogger",
    "Logger.structuredLogger",
    "OpenTelemetry spans",
    "metrics",
    "services, status, token and settings",
    "what reaches the service"
  ]

  const ofFailure = [
    "Cause and Exit",
    "Cause.pretty",
    "JSON and encoding of the error",
    "String of the error",
    "everything that the error reaches",
    "message and stack of the error",
    "rejection of a promise"
  ]

  it.each<readonly [string, boolean, ReadonlyArray<string>]>([
    ["success", false, [...always, "value of a success"]],
    ["failure", true, [...always, ...ofFailure]]
  ])("the detector finds the secret in each output of a %s", async (_, fails, outputs) => {
    const { leaks } = await collectOutputs({
      layer: careless(fails),
      program: NutritionAdvisor.search("apple"),
      printed: [],
      received: () => [{ method: "GET", path: "/v2", query: Secrets.withReserved(Secrets.key), headers: {}, body: "" }]
    })
    expect(Object.keys(leaks).sort()).toEqual([...outputs].sort())
  })

  it.each(Secrets.forms)("the detector finds the secret in the form $name", ({ of }) => {
    for (const secret of [Secrets.key, Secrets.token, Secrets.renewedToken, Secrets.customerId]) {
      const nested = JSON.stringify({ nested: JSON.stringify({ text: of(secret) }) })
      for (const text of [`before ${of(secret)} after`, nested]) expect(Secrets.shownIn(text)).not.toEqual([])
    }
  })
})
