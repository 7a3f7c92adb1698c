import { HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import * as Build from "../../../src/internal/request/build.js"
import { read } from "../../../src/internal/request/searchOptions.js"

const searchRequest = (
  target: Parameters<typeof Build.searchRequest>[0],
  term: unknown,
  options: Parameters<typeof read>[0]
) => Build.searchRequest(target, term, read(options))

const target = {
  base: { href: "https://service.example/p", origin: "https://service.example", pathname: "/p" },
  serviceIdHeader: "service-id",
  ownHeaders: { "user-agent": "tests" },
  isInOtherRequest: () => false
}

const inOtherRequest = { ...target, isInOtherRequest: () => true }

const half = "\ud800"

const workerRule = "in a worker, a layer serves only the request in which it was built: " +
  "build NutritionAdvisor.layerShared for each request, over one SharedTokenCache for all"

describe("a search that is not sent", () => {
  it.each([
    ["the search term is no text", () => searchRequest(target, 1, {})],
    ["the search term is blank", () => searchRequest(target, " ", {})],
    [
      "the search term or a query parameter holds half of a surrogate pair",
      () => searchRequest(target, half, {})
    ],
    [
      "the search term or a query parameter holds half of a surrogate pair",
      () => searchRequest(target, "oats", { urlParams: { page: half } })
    ],
    [
      "a header holds characters that HTTP does not allow",
      () => searchRequest(target, "oats", { headers: { "x-name": "a\nb" } })
    ],
    [
      "a header holds characters that HTTP does not allow",
      () => searchRequest(target, "oats", { headers: { authorization: "a\nb" } })
    ],
    [workerRule, () => searchRequest(inOtherRequest, "oats", {})]
  ])("says why: %s", (detail, build) => {
    expect(build()).toMatchObject({ _tag: "BadRequest", operation: "search", detail })
  })
})

describe("a request that is not sent", () => {
  it.each([
    [
      "the URL holds half of a surrogate pair",
      () => Build.requestBelow(target, HttpClientRequest.get("/v2/plan", { urlParams: { page: half } }))
    ],
    [
      "the URL leaves the base URL",
      () => Build.requestBelow(target, HttpClientRequest.get("https://other.example/v2"))
    ],
    [
      "a header holds characters that HTTP does not allow",
      () => Build.requestBelow(target, HttpClientRequest.get("/v2/plan", { headers: { "x-name": "a\nb" } }))
    ],
    [workerRule, () => Build.requestBelow(inOtherRequest, HttpClientRequest.get("/v2/plan"))]
  ])("says why: %s", (detail, build) => {
    expect(build()).toMatchObject({ _tag: "BadRequest", operation: "request", detail })
  })
})

describe("what is sent", () => {
  const headers = { authorization: "Bearer own", "Service-ID": "own", "x-name": "value" }

  it("has the term first, further parameters, and headers but for those of the token", () => {
    expect(searchRequest(target, "oats", { headers, urlParams: { page: "2", term: "rice" } })).toMatchObject({
      method: "GET",
      origin: "https://service.example",
      path: "/p/v2/products/napi/food/search/semantic?term=oats&page=2",
      headers: { "user-agent": "tests", "x-name": "value" }
    })
    expect(searchRequest(target, "oats", { headers })).not.toHaveProperty("headers.authorization")
    expect(searchRequest(target, "oats", { headers })).not.toHaveProperty("headers.service-id")
    const below = Build.requestBelow(target, HttpClientRequest.get("/v2/plan", { headers }))
    expect(below).toMatchObject({ headers: { "user-agent": "tests", "x-name": "value" } })
    expect(below).not.toHaveProperty("headers.authorization")
    expect(below).not.toHaveProperty("headers.service-id")
  })

  it.each([
    ["/v2/plan", {}, "/p/v2/plan"],
    ["/v2/plan?a=1", {}, "/p/v2/plan?a=1"],
    ["/v2/plan", { b: "2" }, "/p/v2/plan?b=2"],
    ["/v2/plan?a=1", { b: "2" }, "/p/v2/plan?a=1&b=2"]
  ])("is %s with parameters %j below the base URL", (url, urlParams, path) => {
    expect(Build.requestBelow(target, HttpClientRequest.get(url, { urlParams }))).toMatchObject({ path })
  })
})
