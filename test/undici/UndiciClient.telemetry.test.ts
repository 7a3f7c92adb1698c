import { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, type Exit, Layer, Option, Tracer } from "effect"
import { constTrue } from "effect/Function"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { testLive } from "../doubles/arranged.js"
import { afterBody, replying, serve } from "../doubles/Wire.js"
import { advisor, ways } from "./ways.js"

interface Recorded {
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  exit: string
}

const own = Effect.runSync(Effect.tracer)

/** A tracer that keeps every span. Its trace is always the same, and its spans are numbered. */
const recording = () => {
  const spans: Array<Recorded> = []
  const tracer = Tracer.make({
    ...own,
    span: (...options) => {
      const span = own.span(...options)
      const recorded: Recorded = {
        name: span.name,
        kind: span.kind,
        parent: Option.getOrUndefined(Option.map(span.parent, (span) => span._tag === "Span" ? span.name : "external")),
        attributes: {},
        exit: "open"
      }
      spans.push(recorded)
      const end = (_: bigint, exit: Exit.Exit<unknown, unknown>) => {
        recorded.exit = exit._tag
      }
      const attribute = (key: string, value: unknown) => {
        recorded.attributes[key] = value
      }
      return Object.defineProperties(span, {
        spanId: { value: String(spans.length).padStart(16, "0") },
        traceId: { value: "1".padStart(32, "0") },
        end: { value: end },
        attribute: { value: attribute }
      })
    }
  })
  return { spans, tracer }
}

const stock = Layer.build(NodeHttpClient.layerUndici).pipe(Effect.map(Context.get(HttpClient.HttpClient)))

const ours = Effect.orDie(UndiciClient.make())

const found = replying("{\"a\":1}", { "content-type": "application/json", date: "now", "set-cookie": "a=secret" })

const spansOf = (client: HttpClient.HttpClient, url: string) => {
  const { spans, tracer } = recording()
  return Effect.as(
    client.get(url, { urlParams: { q: "1" }, headers: { authorization: "secret", "x-a": "1" } }).pipe(
      Effect.exit,
      Effect.withSpan("menu"),
      Effect.withTracer(tracer)
    ),
    spans
  )
}

describe("The client's span", () => {
  testLive("is that of the stock client", function*() {
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

  testLive("is that of the stock client where nothing listens", function*() {
    const { origin } = yield* Effect.scoped(serve(found))
    const spans = yield* spansOf(yield* ours, origin)
    expect(spans).toEqual(yield* spansOf(yield* stock, origin))
    expect(spans[1]?.exit).toBe("Failure")
  })

  testLive("is none where withTracerDisabledWhen says so", function*() {
    const { origin, requests } = yield* serve(found)
    const spans = yield* spansOf(HttpClient.withTracerDisabledWhen(yield* ours, constTrue), origin)
    expect(spans.map(({ name }) => name)).toEqual(["menu"])
    expect(requests[0]?.headers).not.toHaveProperty("traceparent")
  })

  testLive("is known to the server by its trace headers, as that of the stock client is", function*() {
    const { origin, requests } = yield* serve(found)
    for (const client of [yield* ours, yield* stock]) yield* spansOf(client, origin)
    const [one, two] = requests.map(({ headers }) => headers)
    expect(one?.["traceparent"]).toBe("00-00000000000000000000000000000001-0000000000000002-01")
    expect([one?.["traceparent"], one?.["b3"]]).toEqual([two?.["traceparent"], two?.["b3"]])
  })

  testLive("is known to no server where withTracerPropagation says so", function*() {
    const { origin, requests } = yield* serve(found)
    yield* spansOf(HttpClient.withTracerPropagation(yield* ours, false), origin)
    expect(requests[0]?.headers).not.toHaveProperty("traceparent")
  })
})

describe.each(ways)("A search $name", ({ through }) => {
  testLive("has a span of its own and none of the client's, and shows the server neither", function*() {
    const seen: Array<ReadonlyArray<string>> = []
    const { origin } = yield* serve(afterBody((_, { headers }, response) => {
      seen.push(Object.keys(headers))
      response.end("{}")
    }))
    const { search } = yield* advisor(through(yield* ours), origin)
    const { spans, tracer } = recording()
    yield* search("oats").pipe(Effect.withSpan("menu"), Effect.withTracer(tracer))
    expect(spans).toMatchObject([
      { name: "menu" },
      { name: "NutritionAdvisor.search", parent: "menu", kind: "client", exit: "Success" }
    ])
    expect(seen.flat().filter((name) => /^(traceparent|b3|x-b3)/.test(name))).toEqual([])
  })
})
