/** The options of a search: query parameters and headers as backends have them. */
import type { UrlParams } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { NutritionAdvisor, RequestRetry } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import * as Time from "../support/doubles/Time.js"

const test = arranged(
  NutritionAdvisor.NutritionAdvisor,
  advisor({}, { routes: { "POST /v2/x": () => ({ status: 200, body: {} }) } })
)

/** The data requests. */
const sent = Effect.gen(function*() {
  const { requests } = yield* Simulator.Simulator
  return (yield* requests).filter(({ operation }) => operation !== "token")
})

const queries = Effect.map(sent, (requests) => requests.map(({ query }) => query))

function* page() {
  yield ["page", "2"] as const
}

function* language() {
  yield ["x-language", "de"] as const
}

const iterators = () => ({ urlParams: page(), headers: language() })

const sentTwice = Effect.gen(function*() {
  const expected = { query: "term=oats&page=2", headers: { "x-language": "de" } }
  expect(yield* sent).toMatchObject([expected, expected])
})

describe("urlParams of a search", () => {
  test.each<readonly [UrlParams.Input, string]>([
    [{ limit: null, page: 1 }, "&page=1"],
    [{ limit: undefined, page: 1 }, "&page=1"],
    [{ tag: [null, "a", undefined, "b"] }, "&tag=a&tag=b"],
    [{ tag: [null] }, ""],
    [{ filter: { kind: null, deep: { a: 1, b: undefined } } }, "&filter%5Bdeep%5D%5Ba%5D=1"],
    [[["limit", null], ["page", 0], ["flag", undefined]], "&page=0"],
    [new Map([["limit", null], ["page", 1]]), "&page=1"],
    [new URLSearchParams("limit=null&limit="), "&limit=null&limit="],
    [{ limit: "", flag: false }, "&limit=&flag=false"]
  ])("leave out null and undefined and send the rest (case %#)", function*([urlParams, expected], { search }) {
    yield* search("oats", { urlParams })
    expect(yield* queries).toEqual([`term=oats${expected}`])
  })
})

describe("options that are iterators", () => {
  test("are sent each time if a search runs twice", function*({ search }) {
    yield* Effect.repeatN(search("oats", iterators()), 1)
    yield* sentTwice
  })

  test("are sent each time if a searchAs runs twice", function*({ searchAs }) {
    yield* Effect.repeatN(searchAs(Schema.Unknown)("oats", iterators()), 1)
    yield* sentTwice
  })

  test("are sent each time if the search function's effect runs twice", function*() {
    yield* Effect.repeatN(NutritionAdvisor.search("oats", iterators()), 1)
    yield* sentTwice
  })

  test("are resent by RequestRetry", function*() {
    const { respondNext } = yield* Simulator.Simulator
    yield* respondNext("search", { status: 500 })
    const search = Effect.provide(NutritionAdvisor.search("oats", iterators()), RequestRetry.layer())
    yield* Time.settle("1 second")(search)
    yield* sentTwice
  })

  test("make the search die if they throw", function*({ search }) {
    function* broken(): Iterable<readonly [string, string]> {
      throw new Error("broken")
    }
    const exit = yield* Effect.exit(search("oats", { urlParams: broken() }))
    expect(exit).toMatchObject({ cause: { _tag: "Die", defect: { message: "broken" } } })
  })
})

describe("headers of an HTTP/2 request that a backend forwards", () => {
  const pseudo = { ":method": "GET", ":path": "/foods", ":authority": "a", ":scheme": "https", "x-request-id": "1" }

  test("are sent without the pseudo-headers, by search and by httpClient", function*({
    httpClient,
    search
  }) {
    yield* search("oats", { headers: pseudo })
    yield* httpClient.post("/v2/x", { headers: pseudo })
    const headers = (yield* sent).map(({ headers }) => headers)
    expect(headers.map((all) => all["x-request-id"])).toEqual(["1", "1"])
    expect(headers.flatMap((all) => Object.keys(all)).filter((name) => name.startsWith(":"))).toEqual([])
  })
})
