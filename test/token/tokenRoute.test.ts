import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Redacted, Struct } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { test, testLive } from "../support/doubles/arranged.js"
import { describeExit } from "../support/doubles/describeExit.js"
import { advisor, advisorOver } from "../support/doubles/simulatedAdvisor.js"
import { clients } from "../support/leaks/clients.js"
import { rendered } from "../support/leaks/rendering.js"
import * as Replies from "../support/leaks/replies.js"
import * as Secrets from "../support/leaks/secrets.js"
import { exchangeOf, tokenRouteRows } from "../support/tables/tokenRoutes.js"

const licenseKey = Redacted.make(Secrets.key)

const requests = Effect.flatMap(Simulator.Simulator, ({ requests }) => requests)

describe.each(tokenRouteRows)("token route $name", (route) => {
  const { name: tokenRoute, path } = route

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
    expect(Secrets.shownIn(rendered(exchange))).toBeUndefined()
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
    expect(Secrets.shownIn(rendered(seen))).toBeUndefined()
  })
})

/** The headers of an exchange that differ between the routes. */
const namesOfHeaders = ["content-type", ...tokenRouteRows.flatMap(({ headers }) => Object.keys(headers))]

const customPath = "/proxy/v2/token-cache/unified/oauth/token/{key}"

const customRoute = { name: customPath, path: customPath, body: "", headers: {} } as const

describe.each([...tokenRouteRows, customRoute])("token route $name", (route) => {
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
