import type { HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import { testLive } from "../../support/doubles/arranged.js"
import { afterBody, replying, serve } from "../../support/doubles/Wire.js"
import { advisor, ours, stock, ways } from "./ways.js"

const own = Effect.runSync(Effect.tracer)

/** A tracer that keeps every span. */
const recording = () => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    ...own,
    span: (...options) => {
      const span = own.span(...options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
}

const told = ({ attributes, kind, name, parent, status }: Tracer.Span) => ({
  name,
  kind,
  parent: Option.getOrUndefined(Option.map(parent, (span) => span._tag === "Span" ? span.name : "external")),
  attributes: Object.fromEntries(attributes),
  exit: status._tag === "Ended" ? status.exit._tag : "open"
})

const found = replying("{\"a\":1}", { "content-type": "application/json", date: "now", "set-cookie": "a=secret" })

const spansOf = (client: HttpClient.HttpClient, url: string) => {
  const { spans, tracer } = recording()
  return Effect.map(
    client.get(url, { urlParams: { q: "1" }, headers: { authorization: "secret", "x-a": "1" } }).pipe(
      Effect.exit,
      Effect.withSpan("menu"),
      Effect.withTracer(tracer)
    ),
    () => spans.map(told)
  )
}

describe("UndiciClient: spans", () => {
  testLive("a request has the same span as with the platform's undici client", function*() {
    const { origin } = yield* serve(found)
    const spans = yield* spansOf(yield* ours, `${origin}/v2/x`)
    expect(spans).toEqual(yield* spansOf(yield* stock, `${origin}/v2/x`))
    expect(spans).toMatchObject([
      { name: "menu" },
      { name: expect.stringMatching(/\bGET$/), kind: "client", parent: "menu", exit: "Success" }
    ])
    expect(spans[1]?.attributes).toMatchObject({ "http.response.status_code": 200, "url.path": "/v2/x" })
    expect(JSON.stringify(spans)).not.toContain("secret")
  })
})

describe.each(ways)("UndiciClient: spans of a search $name", ({ through }) => {
  testLive("a search has only its own span, which is not propagated to the server", function*() {
    const seen: Array<ReadonlyArray<string>> = []
    const { origin } = yield* serve(afterBody((_, { headers }, response) => {
      seen.push(Object.keys(headers))
      response.end("{}")
    }))
    const { search } = yield* advisor(through(yield* ours), origin)
    const { spans, tracer } = recording()
    yield* search("oats").pipe(Effect.withSpan("menu"), Effect.withTracer(tracer))
    expect(spans.map(told)).toMatchObject([
      { name: "menu" },
      { name: "NutritionAdvisor.search", parent: "menu", kind: "client", exit: "Success" }
    ])
    expect(seen.flat().filter((name) => /^(traceparent|b3|x-b3)/.test(name))).toEqual([])
  })
})
