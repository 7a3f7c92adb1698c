/** The three layers around a client, in each order, over each way to build a client, for Effect and for promises. */
import type { HttpClient } from "@effect/platform"
import { expect } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { SharedTokenCache, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { fromLayer } from "effect-nutrition-advisor/promise"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arrangedLive, testLive } from "../support/doubles/arranged.js"
import * as AdvisorDouble from "./AdvisorDouble.js"

type Advisor<R = never> = Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown, R>

const three: Readonly<Record<string, Advisor<NutritionAdvisor.NutritionAdvisor>>> = {
  cache: SearchCache.layer({ timeToLive: "1 hour" }),
  retry: RequestRetry.layer({ base: "1 millis" }),
  throttle: Throttle.layer({ onTooManyRequests: "wait", rate: { limit: 1_000, interval: "1 second" } })
}

const ordersOf = (names: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  names.length < 2
    ? [names]
    : names.flatMap((first) => ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]))

const orders = ordersOf(Object.keys(three)).map((order) => order.join(" around "))

const stacked = <R>(order = "", client: Advisor<R>) =>
  order.split(" around ").flatMap((name) => three[name] ?? [])
    .reduceRight<Advisor<R>>((inner, outer) => Layer.provide(outer, inner), client)

type Composition = (options: NutritionAdvisor.Options) => Advisor<HttpClient.HttpClient>

const { layer } = NutritionAdvisor

const layerShared: Composition = (options) =>
  Layer.provide(NutritionAdvisor.layerShared(options), SharedTokenCache.layerMemory)

const composed: Composition = (options) =>
  NutritionAdvisor.layerWithoutTokens(options).pipe(
    Layer.provide(TokenProvider.layer()),
    Layer.provide([TokenIssuer.layer(options), TokenStore.layer])
  )

const { baseUrl, licenseKey } = Simulator

const found = { results: [] }

/** Responds to six calls: a search with 503, a broken connection and a payload; a request with 503 and 404; a search with 400. */
const simulated = (composition: Composition) =>
  Effect.gen(function*() {
    const service = yield* Layer.build(Simulator.layerHttpClient())
    const { counters, respondAlways, respondNext } = Context.get(service, Simulator.Simulator)
    yield* respondNext("search", { status: 503 }, "drop", { status: 200, body: found })
    yield* respondAlways("search", { status: 400 })
    yield* respondNext("request", { status: 503 })
    const client = Layer.provide(composition({ baseUrl, licenseKey }), Layer.succeedContext(service))
    return { client, sendings: Effect.map(counters, ({ requests, searches }) => requests + searches) }
  })

const { BadRequest, ServerError, TransportError, UnexpectedResponse } = NutritionAdvisorError

const doubled = Effect.sync(() => {
  const { layer: client, sent } = AdvisorDouble.responding(
    Effect.fail(new ServerError({ operation: "search", status: 503 })),
    Effect.fail(new TransportError({ operation: "search", reason: "Aborted" })),
    Effect.succeed(found),
    Effect.fail(new ServerError({ operation: "request", status: 503 })),
    Effect.fail(new UnexpectedResponse({ operation: "request", status: 404, reason: "Status" })),
    Effect.fail(new BadRequest({ operation: "search", status: 400 }))
  )
  return { client, sendings: Effect.sync(() => sent.length) }
})

type Call = (what: string) => Effect.Effect<unknown, unknown>

const expectSix = (search: Call, get: Call, sendings: Effect.Effect<number>) =>
  Effect.gen(function*() {
    expect([yield* search("oats"), yield* search("oats")]).toEqual([found, found])
    expect(yield* Effect.flip(get("/v2/plan"))).toMatchObject({ _tag: "UnexpectedResponse", status: 404 })
    expect(yield* Effect.flip(search("rice"))).toMatchObject({ _tag: "BadRequest", status: 400 })
    expect(yield* sendings).toBe(6)
  })

const promised = (call: (what: string) => Promise<unknown>): Call => (what) =>
  Effect.tryPromise({ try: () => call(what), catch: (error) => error })

const clients = [
  ["NutritionAdvisor.layer", simulated(layer)],
  ["NutritionAdvisor.layerShared", simulated(layerShared)],
  ["a double", doubled]
] as const

const stacks = clients.flatMap(([name, made]) => orders.map((order) => [order, name, made] as const))

testLive.each(stacks)("%s around %s: searches and requests work", function*([order, , made]) {
  const { client, sendings } = yield* made
  const context = yield* Layer.build(stacked(order, client))
  const { httpClient, search } = Context.get(context, NutritionAdvisor.NutritionAdvisor)
  yield* expectSix(search, (path) => httpClient.get(path), sendings)
})

testLive.each(stacks)("%s around %s: searches and requests of a promise client work", function*([order, , made]) {
  const { client, sendings } = yield* made
  const advisor = fromLayer(stacked(order, client))
  yield* expectSix(promised(advisor.search), promised(advisor.fetch), sendings)
  yield* Effect.promise(advisor.close)
})

const keys = ["key-of-tenant-1", "key-of-tenant-2"].map((key) => Redacted.make(key))

const tagOf = (tenant: number) => Context.GenericTag<`tenant ${number}`, NutritionAdvisor.Service>(`tenant ${tenant}`)

const tenant = (number: number, composition: Composition) =>
  Layer.effect(tagOf(number), NutritionAdvisor.NutritionAdvisor).pipe(
    Layer.provide(stacked(orders[number], composition({ baseUrl, licenseKey: keys[number - 1] ?? licenseKey })))
  )

const compositions: ReadonlyArray<readonly [name: string, Composition]> = [
  ["layer", layer],
  ["layerShared", layerShared],
  ["layerWithoutTokens", composed]
]

/** The simulator writes into each token the number of the key that it was exchanged for. */
const withTwoKeys = arrangedLive(
  Simulator.Simulator,
  Simulator.layerHttpClient({ licenseKeys: keys.map(Redacted.value) })
)

withTwoKeys.each(
  compositions.flatMap(([name, one]) =>
    compositions.map(([otherName, other]) => [name, otherName, one, other] as const)
  )
)(
  "two clients in one program (%s and %s): neither sends the other's token",
  function*([, , one, other], { requests, revoke }) {
    const searches = (round: string) =>
      Effect.forEach(
        [1, 2, 1, 2, 1, 2],
        (number, nth) =>
          Effect.flatMap(tagOf(number), ({ search }) => search(`${number}`, { urlParams: { round, nth } })),
        { concurrency: "unbounded" }
      )
    const both = Layer.merge(tenant(1, one), tenant(2, other))
    yield* Effect.provide(Effect.all([searches("first"), revoke, searches("second")]), both)
    const sent = (yield* requests).filter(({ operation }) => operation === "search")
    expect(sent.length).toBeGreaterThan(12)
    const keyIn = (text: string) => /^(?:Bearer simulated-|term=)([12])/.exec(text)?.[1]
    for (const { authorization, query } of sent) {
      expect(keyIn(Redacted.value(Option.getOrThrow(authorization)))).toBe(keyIn(query))
    }
  }
)
