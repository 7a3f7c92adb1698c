import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Effect, Option, type Tracer } from "effect"
import { testLive } from "../../support/doubles/arranged.js"
import { recordSpans } from "../../support/doubles/spans.js"
import { replying, serve } from "../../support/doubles/Wire.js"
import { undiciClient } from "./ways.js"

const shown = ({ attributes, kind, name, parent, status }: Tracer.Span) => ({
  name,
  kind,
  parent: Option.getOrUndefined(Option.map(parent, (span) => span._tag === "Span" ? span.name : "external")),
  attributes: Object.fromEntries(attributes),
  exit: status._tag === "Ended" ? status.exit._tag : "open"
})

const found = replying("{\"a\":1}", { "content-type": "application/json", date: "now", "set-cookie": "a=secret" })

const spansOf = (client: HttpClient.HttpClient, url: string) =>
  client.get(url, { urlParams: { q: "1" }, headers: { authorization: "secret", "x-a": "1" } }).pipe(
    Effect.withSpan("menu"),
    recordSpans,
    Effect.map(({ spans }) => spans.map(shown))
  )

testLive("UndiciClient: a request has the same span as with the platform's undici client", function*() {
  const { origin } = yield* serve(found)
  const spans = yield* spansOf(yield* undiciClient, `${origin}/v2/x`)
  const platform = Effect.flatMap(HttpClient.HttpClient, (client) => spansOf(client, `${origin}/v2/x`))
  expect(spans).toEqual(yield* Effect.provide(platform, NodeHttpClient.layerUndici))
  expect(spans).toMatchObject([
    { name: "menu" },
    { name: expect.stringMatching(/\bGET$/), kind: "client", parent: "menu", exit: "Success" }
  ])
  expect(spans[1]?.attributes).toMatchObject({ "http.response.status_code": 200, "url.path": "/v2/x" })
  expect(JSON.stringify(spans)).not.toContain("secret")
})
