/** The options of a search: query parameters and headers as backends have them. */
import type { UrlParams } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Cause, Effect, Layer, Option, Redacted, Schema } from "effect"
import { NutritionAdvisor, SearchCache } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { clientDeclarations } from "../../src/internal/settings/settings.js"
import { read } from "../support/documents/blocks.js"
import { arranged } from "../support/doubles/arranged.js"
import { describeExit } from "../support/doubles/describeExit.js"
import { advisor, requestsOf } from "../support/doubles/simulatedAdvisor.js"
import { allOptions, searchOptionRows } from "../support/tables/searchOptions.js"

const arrangement = Effect.gen(function*() {
  const { requests, respondAlways, respondNext } = yield* Simulator.Simulator
  // The simulator might reject the value of an option.
  yield* respondAlways("search", { status: 200, body: { results: [] } })
  return { ...yield* NutritionAdvisor.NutritionAdvisor, requests, respondNext }
})

const test = arranged(arrangement, advisor())

const sent = requestsOf("search")

it.each(Object.keys(searchOptionRows))(
  "docs/getting-started.md: the section on the options of a search names %s",
  (name) => {
    const sections = read("docs/getting-started.md").split(/^## /m)
    const section = sections.find((text) => text.startsWith("Options of a search\n"))
    expect(section).toContain(`\`${name}\``)
  }
)

it("SECURITY.md: its table has a row for each option of a search that is a secret", () => {
  const secrets = Object.entries(searchOptionRows).filter(([, { isSecret }]) => isSecret).map(([name]) => name)
  const listed = Array.from(read("SECURITY.md").matchAll(/\| option `(\w+)` of a search/g), ([, name]) => name)
  expect(new Set(listed)).toEqual(new Set(secrets))
})

it.effect.each(Object.entries(searchOptionRows))(
  "search option %s: a simulator accepts its values",
  ([name, row]) =>
    Effect.forEach(row.values(), (value) => NutritionAdvisor.search("oats", { [name]: value })).pipe(
      Effect.provide(advisor({}, row.simulator))
    )
)

const cached = Layer.provideMerge(SearchCache.layer({ timeToLive: "1 hour" }), advisor())

test.each(Object.entries(searchOptionRows))(
  "SearchCache: the service receives the option %s, and gets one request for each of its values",
  function*([name, { expected, received, values }], { search }) {
    for (const value of [...values(), ...values()]) yield* search("oats", { [name]: value })
    expect((yield* sent).map(received)).toEqual(expected)
  },
  cached
)

test("options of a search: null counts as none", function*({ search }) {
  const payload = yield* search("oats")
  expect(yield* search("oats", JSON.parse("null"))).toEqual(payload)
}, cached)

test.each<readonly [string, () => object]>([
  ["can't be a string", () => ({ headers: { "x-a": Symbol("a") } })],
  ["throws when it is read", () => ({
    get headers() {
      throw new Error("a bug")
    }
  })]
])("options of a search: a header that %s is a defect of the search", function*([, options], { search }) {
  const cause = yield* Effect.flip(Effect.sandbox(search("oats", options())))
  expect(Cause.isDie(cause)).toBe(true)
})

test("options of a search: all are sent together, also if serviceIdHeader is set", function*({ search }) {
  for (const options of [allOptions(0), allOptions(1)]) yield* search("oats", options)
  const received = yield* sent
  for (const row of Object.values(searchOptionRows)) expect(received.map(row.received)).toEqual(row.expected)
}, advisor({ serviceIdHeader: "X-Id" }, { serviceIdHeader: "X-Id" }))

test("options of a search: the retry after a 403 has all of them, and the next search has none", function*(services) {
  const { respondNext, search } = services
  yield* respondNext("search", { status: 403 })
  yield* Effect.zipRight(search("oats", allOptions(0)), search("oats"))
  const received = yield* sent
  for (const { expected: [first], received: receivedBy } of Object.values(searchOptionRows)) {
    expect(received.map((request) => receivedBy(request) === first)).toEqual([true, true, false])
  }
})

test("options of a search: reserved headers are dropped, whatever other options are set", function*({ search }) {
  const headers = { AUTHORIZATION: "Bearer another", "service-ID": "another", connection: "close" }
  yield* search("oats", { ...allOptions(0), headers })
  const [request] = yield* sent
  const secrets = [request?.authorization, request?.serviceId].map((secret) =>
    Redacted.value(Option.getOrThrow(secret ?? Option.none()))
  )
  expect(secrets).toEqual([expect.stringMatching(/^Bearer simulated-/), expect.not.stringContaining("another")])
  expect(request?.headers).not.toHaveProperty("connection")
})

/** Values of a string that a caller may have by mistake: null may be the identifier of a customer that wasn't found. */
const invalidStrings = { blank: " ", empty: "", null: null }

const invalidSecrets = {
  "padded": " a",
  "not ASCII": "ü",
  "null in a Redacted": Redacted.make(null),
  "undefined in a Redacted": Redacted.make(undefined)
}

/** The client rejects these for its own option of the same name, so a search must reject them, too. */
const rejectedByClient = { "quoted": "\"a\"", "a placeholder": "<a>" }

/** For each option, values for which nothing is sent. */
const invalid = Object.entries(searchOptionRows).flatMap(([name, { invalid, isSecret, values }]) =>
  Object.entries<unknown>({
    "malformed": invalid,
    ...(typeof values()[0] === "string" ? invalidStrings : {}),
    ...(isSecret ? invalidSecrets : {}),
    ...(isSecret && name in clientDeclarations ? rejectedByClient : {})
  }).map(([fault, value]) => [`${name} is ${fault}`, { [name]: value }] as const)
)

test.each(invalid)("options of a search: nothing is sent if %s", function*([, options], { requests, search }) {
  expect(describeExit(yield* Effect.exit(search("oats", options)))).toBe("BadRequest")
  expect(yield* requests).toEqual([])
})

test.each(invalid)(
  "SearchCache: a search fails even if its term is cached, if %s",
  function*([, options], { search }) {
    yield* search("oats")
    expect(describeExit(yield* Effect.exit(search("oats", options)))).toBe("BadRequest")
  },
  cached
)

const untyped = (urlParams: unknown) => urlParams as UrlParams.Input

test.each<readonly [title: string, urlParams: UrlParams.Input, query: string]>([
  ["null is left out", { limit: null, page: 1 }, "&page=1"],
  ["undefined is left out", { limit: undefined, page: 1 }, "&page=1"],
  ["null and undefined in an array are left out", { tag: [null, "a", undefined, "b"] }, "&tag=a&tag=b"],
  ["an array of null is left out", { tag: [null] }, ""],
  ["null and undefined in a record are left out", { a: { b: null, c: { d: 1, e: undefined } } }, "&a%5Bc%5D%5Bd%5D=1"],
  ["null and undefined in pairs are left out", [["limit", null], ["page", 0], ["flag", undefined]], "&page=0"],
  ["null in a Map is left out", new Map([["limit", null], ["page", 1]]), "&page=1"],
  ["the string \"null\" is sent", new URLSearchParams("limit=null&limit="), "&limit=null&limit="],
  ["an empty string and false are sent", { limit: "", flag: false }, "&limit=&flag=false"],
  // A program without types may pass them.
  ["a date is sent as in JSON", untyped({ since: new Date(0) }), "&since=1970-01-01T00%3A00%3A00.000Z"],
  ["a date in an array is sent as in JSON", untyped({ on: [new Date(0)] }), "&on=1970-01-01T00%3A00%3A00.000Z"],
  ["a date in pairs is sent as in JSON", untyped([["on", new Date(0)]]), "&on=1970-01-01T00%3A00%3A00.000Z"],
  ["a date that is not valid is left out", untyped({ since: new Date(Number.NaN), page: 1 }), "&page=1"],
  ["a URL is sent as in JSON", untyped({ from: new URL("https://a.example") }), "&from=https%3A%2F%2Fa.example%2F"]
])("urlParams of a search: %s", function*([, urlParams, query], { search }) {
  yield* search("oats", { urlParams })
  expect((yield* sent).map((request) => request.query)).toEqual([`term=oats${query}`])
})

function* page() {
  yield ["page", "2"] as const
}

function* language() {
  yield ["x-language", "de"] as const
}

type Search = (
  advisor: NutritionAdvisor.Service,
  options: NutritionAdvisor.SearchOptions
) => Effect.Effect<unknown, unknown, NutritionAdvisor.NutritionAdvisor>

const searches: ReadonlyArray<readonly [name: string, search: Search]> = [
  ["search of the service", ({ search }, options) => search("oats", options)],
  ["NutritionAdvisor.search", (_, options) => NutritionAdvisor.search("oats", options)],
  ["NutritionAdvisor.searchAs", (_, options) => NutritionAdvisor.searchAs(Schema.Unknown)("oats", options)]
]

test.each(searches)(
  "%s: options that are iterators are sent each time if it runs twice",
  function*([, search], advisor) {
    yield* Effect.repeatN(search(advisor, { urlParams: page(), headers: language() }), 1)
    const expected = { query: "term=oats&page=2", headers: { "x-language": "de" } }
    expect(yield* sent).toMatchObject([expected, expected])
  }
)

test.each(searches)(
  "%s: options that are changed after the call are sent as they were",
  function*([, search], advisor) {
    const objects = { urlParams: new URLSearchParams({ page: "2" }), headers: new Headers({ "x-language": "de" }) }
    const records = { urlParams: { page: ["2"] }, headers: { "x-language": ["de"] } }
    const pending = [search(advisor, objects), search(advisor, records)]
    objects.urlParams.set("page", "3")
    objects.headers.set("x-language", "fr")
    records.urlParams.page.push("3")
    records.headers["x-language"].push("fr")
    yield* Effect.all(pending)
    const expected = { query: "term=oats&page=2", headers: { "x-language": "de" } }
    expect(yield* sent).toMatchObject([expected, expected])
  }
)

test("NutritionAdvisor.search: dates that are changed after the call are sent as they were", function*() {
  const date = new Date(0)
  const pending = NutritionAdvisor.search("oats", { urlParams: untyped({ from: date, on: [date] }) })
  date.setTime(1)
  yield* pending
  const sentDate = "1970-01-01T00%3A00%3A00.000Z"
  expect(yield* sent).toMatchObject([{ query: `term=oats&from=${sentDate}&on=${sentDate}` }])
})

test("NutritionAdvisor.search: it sends a Map in a parameter as the search of the service does", function*(advisor) {
  const options = { urlParams: untyped({ filter: new Map([["a", "1"]]) }) }
  yield* advisor.search("oats", options)
  yield* NutritionAdvisor.search("oats", options)
  const [direct, forwarded] = yield* sent
  expect(forwarded?.query).toBe(direct?.query)
})
