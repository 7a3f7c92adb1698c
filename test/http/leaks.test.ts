import { HttpClient, HttpClientError, type HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Metric, Predicate } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import * as Url from "../../src/internal/http/url.js"
import { testLive } from "../support/doubles/arranged.js"
import * as Issuer from "../support/doubles/IssuerDouble.js"
import { clients } from "../support/leaks/clients.js"
import { leaksOf } from "../support/leaks/leaksOf.js"
import { outcomes } from "../support/leaks/outcomes.js"
import * as Secrets from "../support/leaks/secrets.js"
import { collectOutputs } from "../support/leaks/sinks.js"

describe("secrets, raw or encoded", () => {
  /** How each test has ended. */
  const exits: Array<Exit.Exit<unknown, unknown>> = []

  /** The clients take turns: test/system/leaks.test.ts combines each outcome with each of them. */
  const inTurn = outcomes.map((outcome, index) => [outcome.title, outcome, clients[index % clients.length]] as const)

  testLive.each(inTurn)("no output contains a secret after %s", function*([, outcome, client]) {
    const { exit, seen } = yield* leaksOf(outcome, client?.layer ?? Layer.die("no client"))
    expect(seen).toEqual({ end: outcome.end, leaks: {} })
    exits.push(exit)
  })

  it("these tests cover each error and each reason of Forbidden", () => {
    const ends = new Set(outcomes.map(({ end }) => end.split(" ")[0]))
    expect(NutritionAdvisorError.errors.filter(({ _tag }) => !ends.has(_tag))).toEqual([])
    const { literals } = NutritionAdvisorError.ForbiddenReason
    expect(literals.filter((reason) => !outcomes.some(({ end }) => end === `Forbidden ${reason}`))).toEqual([])
  })

  it("these tests cover each field of each error", ({ skip }) => {
    skip(exits.length < outcomes.length, "only some of the tests ran")
    const errors = exits.filter(Exit.isFailure).map(({ cause }) => Cause.squash(cause))
    const has = (tag: string, name: string) =>
      errors.some((error) =>
        Predicate.hasProperty(error, name) && error[name] !== undefined && Predicate.isTagged(error, tag)
      )
    const missing = NutritionAdvisorError.errors.flatMap(({ _tag, fields }) =>
      Object.keys(fields).filter((name) => !has(_tag, name)).map((name) => `${_tag}.${name}`)
    )
    expect(missing).toEqual([])
  })
})

const failingWith = (fails: (error: Error) => Effect.Effect<never>) =>
  HttpClient.make((request) => fails(Object.assign(new Error(JSON.stringify(request)), { request })))

/** The error of a client, whose message contains the URL. */
const unsent = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.fail(new HttpClientError.RequestError({ request, reason: "Transport" }))

const unable = HttpClient.make(unsent)

const inAnotherFiber = HttpClient.transformResponse(
  unable,
  (sending) => Effect.flatMap(Effect.fork(sending), Fiber.join)
)

testLive.each<readonly [string, HttpClient.HttpClient]>([
  ["dies with the request as its defect", failingWith(Effect.die)],
  [
    "throws the request object",
    failingWith((error) => {
      throw error
    })
  ],
  ["interrupts itself and dies", failingWith((error) => Effect.ensuring(Effect.interrupt, Effect.die(error)))],
  ["has a wrapper that sends in another fiber", inAnotherFiber],
  ["has a wrapper that fails before it sends", HttpClient.mapRequestEffect(unable, unsent)]
])("secrets: no output contains one if a custom HttpClient %s", function*([, client]) {
  const { seen } = yield* leaksOf({ title: "", end: "" }, Layer.succeed(HttpClient.HttpClient, client))
  expect(seen).toEqual({ end: "TransportError Connection", leaks: {} })
})

/** A client whose failing call leaks secrets in every way. */
const careless = () => {
  const headers = { authorization: `Bearer ${Secrets.token}`, "service-id": Secrets.customerId }
  const failure = Object.assign(new NutritionAdvisorError.BadRequest({ operation: "search", detail: Secrets.key }), {
    cause: headers
  })
  const call = Effect.log("called with", headers).pipe(
    Effect.zipLeft(Metric.increment(Metric.tagged(Metric.counter("careless"), "key", Secrets.key))),
    Effect.zipRight(Effect.fail(failure)),
    Effect.withSpan("careless", { attributes: headers })
  )
  const token = Object.assign(Issuer.token(1, 0, Infinity), headers)
  const httpClient = HttpClient.makeWith(() => Effect.die(headers), Effect.succeed)
  return Layer.merge(
    Layer.succeed(NutritionAdvisor.NutritionAdvisor, {
      search: () => call,
      searchAs: () => () => Effect.die(headers),
      httpClient
    }),
    TokenProvider.layer().pipe(Layer.provide([Issuer.layer, TokenStore.layerStatic(token)]), Layer.orDie)
  )
}

it("leak detector: every output of a careless client's failure is searched", async () => {
  const { leaks } = await collectOutputs({
    layer: careless(),
    program: NutritionAdvisor.search("apple"),
    printed: [],
    received: () => [{ method: "GET", path: "/v2", query: Url.encode(Secrets.key), headers: {}, body: "" }]
  })
  expect(Object.keys(leaks)).toEqual(["outcome", "services", "logs", "spans", "metrics", "requests"])
})
