import { runInNewContext } from "node:vm"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Layer, Option, Predicate, Redacted, Struct } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { searchRoute } from "../../src/internal/request/build.js"
import { read } from "../support/documents/blocks.js"
import { advisorOver } from "../support/doubles/advisorOver.js"
import { test, testLive } from "../support/doubles/arranged.js"
import { describeExit } from "../support/doubles/describeExit.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { requests } from "../support/doubles/simulator.js"
import { clients } from "../support/leaks/clients.js"
import { rendered } from "../support/leaks/rendering.js"
import * as Replies from "../support/leaks/replies.js"
import * as Secrets from "../support/leaks/secrets.js"
import { exchangeOf, namedRoutes, namesOfHeaders, routesWithKeyInPath } from "../support/tables/tokenRoutes.js"

const licenseKey = Redacted.make(Secrets.key)

describe.each(namedRoutes)("token route $name", (route) => {
  const { body, headers, name: tokenRoute, path } = route

  test.each<readonly [title: string, accepted: string, prefix: string, end: string]>([
    ["issues a token for its license key", Secrets.key, "", "Success"],
    ["rejects another license key", "another-key", "", "BadRequest"],
    ["rejects an exchange below a wrong base URL", "another-key", "/api", "Forbidden KeyRejected"]
  ])("the simulator %s, and records it without the key", function*([, accepted, prefix, end]) {
    const baseUrl = Simulator.baseUrl + prefix
    const simulated = advisor({ baseUrl, licenseKey, tokenRoute }, { licenseKeys: [accepted] })
    const [exit, [exchange]] = yield* Effect.provide(
      Effect.all([Effect.exit(NutritionAdvisor.search("oats")), requests]),
      simulated
    )
    expect({ end: describeExit(exit), path: exchange?.path }).toEqual({ end, path: prefix + path })
    expect(Secrets.shownIn(rendered(exchange))).toEqual([])
  })

  test("the simulator hides the license key in the path and headers of a request with a token", function*() {
    const { headers, path } = exchangeOf(route, Secrets.key)
    const request = HttpClientRequest.post(`${Simulator.baseUrl}/api${path}`, {
      headers: { ...headers, authorization: "Bearer token-1" }
    })
    const seen = yield* Effect.provide(
      Effect.zipRight(HttpClient.execute(request), requests),
      Simulator.layerHttpClient()
    )
    expect(seen).toHaveLength(1)
    expect(Secrets.shownIn(rendered(seen))).toEqual([])
  })

  test("the simulator rejects an entry of `routes` at its path", function*() {
    const layer = Simulator.layerHttpClient({ routes: { [`POST ${path}`]: { status: 200 } } })
    const defect = Cause.dieOption(yield* Effect.cause(Layer.build(layer)))
    expect(String(Option.getOrUndefined(defect))).toContain("is a token route")
  })

  it("the README lists it in the row of tokenRoute", () => {
    const [row] = read("README.md").split("\n").filter((line) => line.startsWith("| `tokenRoute` |"))
    expect(row).toContain(`"${tokenRoute}"`)
  })

  it("docs/SERVICE.md has its path", () => {
    const paths = read("docs/SERVICE.md").matchAll(/^\| Path \| (\S+) \|$/gm)
    expect(Array.from(paths, ([, documented]) => documented)).toContain(path)
  })

  it.each([
    ["section 4", /All paths are under the prefix (.+)\./],
    ["section 9", /The version appears as the path prefix (.+)\./]
  ])("docs/SERVICE.md, %s, says which version is in its path", (_, sentence) => {
    const [, versions] = sentence.exec(read("docs/SERVICE.md")) ?? []
    expect(versions).toContain(/^\/v\d+/.exec(path)?.[0])
  })

  it("docs/SERVICE.md, section 5, says where its license key is", () => {
    const [, place] = /with its license key (.+)\./.exec(read("docs/SERVICE.md")) ?? []
    expect(place).toContain(path.endsWith("/{key}") ? "as the last path segment" : tokenRoute)
  })

  it.each([
    ["SECURITY.md", "under Destination", /sent only in the ([^.|]+) of the token exchange/],
    ["SECURITY.md", "in its table", /\| license key \| ([^|]+) of the token exchange \|/],
    ["docs/telemetry.md", "about agents", /The ([^.|]+) of a token call contains the license key/]
  ])("%s says %s in which part of its exchange the license key is", (page, _, sentence) => {
    const [, parts] = sentence.exec(read(page).replaceAll("\n", " ")) ?? []
    const texts = { path, body, header: Object.values(headers).join() }
    const [part] = Object.entries(texts).filter(([, text]) => text.includes("{key}")).map(([name]) => name)
    expect(parts?.split(/\W+/)).toContain(part)
  })
})

/** The code in the row of an agent in docs/telemetry.md. */
const codeOf = (agent: string): ReadonlyArray<string> => {
  const row = read("docs/telemetry.md").split("\n").find((line) => line.startsWith(`| ${agent} `)) ?? ""
  return Array.from(row.matchAll(/`([^`]+)`/g), ([, code = ""]) => code.replaceAll("\\|", "|"))
}

/** What each agent records of the URL of a request, if it is set up as its row says: nothing if the request is excluded. */
const recordedBy: Readonly<Record<string, (url: string) => unknown>> = {
  "Sentry": (url) => runInNewContext(`({ ${codeOf("Sentry")[0]} }).ignoreOutgoingRequests(url) ? "" : url`, { url }),
  "dd-trace": (url) => {
    const use = (_: string, { blocklist }: { readonly blocklist: ReadonlyArray<RegExp> }) =>
      blocklist.some((pattern) => pattern.test(url)) ? "" : url
    return runInNewContext(codeOf("dd-trace")[0] ?? "", { tracer: { use }, plugin: "fetch" })
  },
  "New Relic": (url) => {
    const [pattern = "", replacement = ""] = ["PATTERN", "REPLACEMENT"].map((name) =>
      codeOf("New Relic").map((code) => code.split(`_REGEX_${name}=`)[1]).find(Predicate.isNotUndefined)
    )
    return url.replace(new RegExp(pattern), replacement)
  },
  "Elastic APM": (url) => {
    const addSpanFilter = (filter: (span: object) => unknown) => filter({ context: { http: { url } } }) ? url : ""
    return runInNewContext(codeOf("Elastic APM")[0] ?? "", { apm: { addSpanFilter } })
  }
}

describe.each(Object.entries(recordedBy))("docs/telemetry.md: the row for %s", (_, recorded) => {
  it.each(routesWithKeyInPath)("keeps the license key of an exchange over $name out of the recorded URL", (route) => {
    const url = `https://advisor.example${exchangeOf(route, Secrets.key).path}`
    expect(Secrets.shownIn(String(recorded(url)))).toEqual([])
  })

  it("keeps the URL of a search unchanged", () => {
    const url = `https://advisor.example${searchRoute}?term=oats`
    expect(recorded(url)).toBe(url)
  })
})

const customPath = "/proxy/v2/token-cache/unified/oauth/token/{key}"

const customRoute = { name: customPath, path: customPath, body: "", headers: {} } as const

describe.each([...namedRoutes, customRoute])("token route $name", (route) => {
  testLive.each(clients)(
    "an exchange over $name sends the license key only at its place, encoded once",
    function*({ layer }) {
      const service = yield* Replies.serve()
      const { search } = yield* advisorOver(layer, { baseUrl: service.origin, licenseKey, tokenRoute: route.name })
      yield* search("oats")
      const sent = service.requests.slice(0, 1).map(({ body, headers, method, path, query }) => ({
        method,
        path,
        query,
        body,
        headers: Struct.pick(headers, ...namesOfHeaders)
      }))
      expect(sent).toEqual([{ method: "POST", query: "", ...exchangeOf(route, Secrets.key) }])
    }
  )
})
