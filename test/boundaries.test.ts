import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { test as plainTest, testLive } from "./doubles/arranged.js"
import { clients } from "./leaks/clients.js"
import * as LocalService from "./leaks/LocalService.js"
import { rendered } from "./leaks/rendering.js"
import * as Replies from "./leaks/replies.js"
import * as Secrets from "./leaks/secrets.js"

const search = NutritionAdvisor.search("apple")

const execute = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(
    NutritionAdvisor.NutritionAdvisor,
    ({ httpClient }) => httpClient.execute(HttpClientRequest.get(url, { headers }))
  )

const options = (baseUrl: string): NutritionAdvisor.Options => ({
  baseUrl,
  licenseKey: Redacted.make(Secrets.key),
  refresh: { background: false },
  tokenTimeout: "30 seconds",
  requestTimeout: "30 seconds"
})

const serve = (replies: Partial<LocalService.Replies> = {}) =>
  LocalService.start({ token: Replies.issue, data: Replies.found, ...replies })

const setup = (
  settings: NutritionAdvisor.Options,
  client: Layer.Layer<HttpClient.HttpClient>
) => Effect.provide(Layer.provide(NutritionAdvisor.layer(settings), client))

/** A client that answers everything and counts what it was given. */
const counting = () => {
  const sent: Array<string> = []
  const client = HttpClient.make((_, url) => {
    sent.push(url.href)
    return Effect.die("nothing is to be sent")
  })
  return { sent, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** A search ends in this error, which does not show the key, and nothing is sent. */
const expectUnsent = (settings: NutritionAdvisor.Options, expected: object) =>
  Effect.gen(function*() {
    const { layer, sent } = counting()
    const error = yield* Effect.flip(setup(settings, layer)(search))
    expect(error).toMatchObject(expected)
    expect(rendered(error)).not.toContain("marker")
    expect(sent).toEqual([])
  })

const isTraceHeader = (name: string) => /^(traceparent|tracestate|baggage|b3|x-b3-.+)$/.test(name)

const namesOf = (requests: ReadonlyArray<LocalService.Received>) =>
  requests.map(({ headers }) => Object.keys(headers).sort())

const encodedKey = encodeURIComponent(Secrets.key)
  .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const tokenPath = `/v2/token-cache/nutrition-advisor/oauth/licence/${encodedKey}`

for (const { layer, name } of clients) {
  describe(`with ${name}`, () => {
    testLive("the key is sent in the path of the token call alone", function*() {
      const service = yield* serve()
      yield* setup(options(service.origin), layer)(Effect.zipRight(search, execute("/v2/plan?page=2")))
      const [token, ...data] = service.received
      expect(token?.path).toBe(tokenPath)
      expect(Secrets.shownIn(JSON.stringify([token?.query, token?.headers, token?.body]))).toEqual([])
      expect(Secrets.shownIn(JSON.stringify(data)).filter((secret) => secret.includes("of key"))).toEqual([])
    })

    testLive("token and identifier are sent in their two headers alone", function*() {
      const service = yield* serve()
      yield* setup(options(service.origin), layer)(Effect.zipRight(search, execute("/v2/plan?page=2")))
      const [, ...data] = service.received
      expect(data.map(({ headers }) => [headers["authorization"], headers["service-id"]])).toEqual([
        [`Bearer ${Secrets.token}`, Secrets.customerId],
        [`Bearer ${Secrets.token}`, Secrets.customerId]
      ])
      const rest = data.map(({ headers: { authorization: _, "service-id": __, ...headers }, ...request }) => [
        request,
        headers
      ])
      expect(Secrets.shownIn(JSON.stringify(rest))).toEqual([])
    })

    testLive("a query holds no secret", function*() {
      const service = yield* serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
      yield* setup(options(service.origin), layer)(Effect.zipRight(search, execute("/v2/plan")))
      expect(service.received.map(({ query }) => query)).toEqual(["", "term=apple", "", "term=apple", ""])
    })

    testLive("no header is sent but the two, the User-Agent and what the client sends by itself", function*() {
      const service = yield* serve()
      yield* setup(options(service.origin), layer)(search)
      const bare = yield* serve()
      yield* Effect.gen(function*() {
        const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
        const post = HttpClientRequest.post(`${bare.origin}${tokenPath}`, {
          headers: { accept: "*/*", "user-agent": "x" }
        })
        const get = HttpClientRequest.get(`${bare.origin}/v2/x`, {
          headers: { authorization: "Bearer x", "service-id": "x", "user-agent": "x" }
        })
        for (const request of [post, get]) yield* Effect.flatMap(client.execute(request), ({ text }) => text)
      }).pipe(Effect.withTracerEnabled(false), Effect.provide(layer))
      expect(namesOf(service.received)).toEqual(namesOf(bare.received))
    })

    testLive("the service learns nothing of the span that its caller is in", function*() {
      const service = yield* serve({ data: Replies.inTurn(Replies.echoing(403), Replies.found) })
      yield* setup(options(service.origin), layer)(
        Effect.withSpan(Effect.zipRight(search, execute("/v2/plan")), "menu")
      )
      expect(namesOf(service.received).flat().filter(isTraceHeader)).toEqual([])
    })

    testLive("the service learns nothing of a span where the client's user has turned its tracer on", function*() {
      const service = yield* serve()
      const traced = Layer.project(
        layer,
        HttpClient.HttpClient,
        HttpClient.HttpClient,
        (client) => HttpClient.withTracerDisabledWhen(client, () => false)
      )
      yield* setup(options(service.origin), traced)(Effect.withSpan(search, "menu"))
      expect(namesOf(service.received).flat().filter(isTraceHeader)).toEqual([])
    })

    testLive("a stock call in a span sends its trace, so the two tests above can fail", function*() {
      const service = yield* serve()
      yield* Effect.flatMap(HttpClient.get(`${service.origin}/v2/x`), ({ text }) => text).pipe(
        Effect.withSpan("menu"),
        Effect.provide(layer)
      )
      expect(namesOf(service.received).flat().filter(isTraceHeader)).not.toEqual([])
    })

    for (const status of [301, 302, 303, 307, 308]) {
      testLive(`a token call does not follow a ${status}`, function*() {
        const service = yield* serve({ token: Replies.redirect(status) })
        const error = yield* Effect.flip(setup(options(service.origin), layer)(search))
        expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "token", status, reason: "Redirect" })
        expect([service.received.length, service.receivedElsewhere]).toEqual([1, []])
      })

      testLive(`a search does not follow a ${status}`, function*() {
        const service = yield* serve({ data: Replies.redirect(status) })
        const error = yield* Effect.flip(setup(options(service.origin), layer)(search))
        expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "search", status, reason: "Redirect" })
        expect([service.received.length, service.receivedElsewhere]).toEqual([2, []])
      })

      testLive(`a request through httpClient does not follow a ${status}`, function*() {
        const service = yield* serve({ data: Replies.redirect(status) })
        const error = yield* Effect.flip(setup(options(service.origin), layer)(execute("/v2/plan")))
        expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "request", status, reason: "Redirect" })
        expect([service.received.length, service.receivedElsewhere]).toEqual([2, []])
      })
    }

    testLive("a request to another origin is refused and nothing is sent", function*() {
      const service = yield* serve()
      const { host, port } = new URL(service.elsewhere)
      const urls = [
        service.elsewhere,
        `//${host}/v2/plan`,
        `\\\\${host}\\v2\\plan`,
        `/\\${host}/v2/plan`,
        `http://localhost:${port}/v2/plan`,
        `${service.origin.replace("http:", "https:")}/v2/plan`,
        `http://user:password@${new URL(service.origin).host}/v2/plan`
      ]
      yield* setup(options(service.origin), layer)(Effect.gen(function*() {
        for (const url of urls) {
          expect(yield* Effect.flip(execute(url))).toMatchObject({ _tag: "BadRequest", operation: "request" })
        }
      }))
      expect([service.received, service.receivedElsewhere]).toEqual([[], []])
    })

    const uncarriable = {
      "a token with a space": { access_token: `${Secrets.token} x` },
      "a token with a line break": { access_token: `${Secrets.token}\r\nx-evil: 1` },
      "a token with a null character": { access_token: `${Secrets.token}\u0000` },
      "a token beyond ASCII": { access_token: `${Secrets.token}ü` },
      "a token beyond Latin-1": { access_token: `${Secrets.token}🥑` },
      "a blank token": { access_token: " " },
      "an identifier with a line break": { customer_id: `${Secrets.customerId}\r\nx-evil: 1` },
      "an identifier with a null character": { customer_id: `${Secrets.customerId}\u0000` },
      "an identifier with a space at its end": { customer_id: `${Secrets.customerId} ` },
      "an identifier beyond ASCII": { customer_id: `${Secrets.customerId}ü` },
      "an identifier beyond Latin-1": { customer_id: `${Secrets.customerId}🥑` }
    }

    for (const [what, fields] of Object.entries(uncarriable)) {
      testLive(`${what} is refused and not repeated`, function*() {
        const service = yield* serve({ token: Replies.issueWith(fields) })
        const error = yield* Effect.flip(setup(options(service.origin), layer)(search))
        expect(error).toMatchObject({ _tag: "UnexpectedResponse", operation: "token", reason: "Schema" })
        expect(Secrets.shownIn(`${error.message} ${error.stack} ${rendered(error)}`)).toEqual([])
        expect(service.received.map(({ path }) => path)).toEqual([tokenPath])
      })
    }
  })
}

describe("a client that was made from an UndiciClient", () => {
  testLive("is given every request, so that nothing goes around what its own execute keeps back", function*() {
    const service = yield* serve()
    const asked: Array<string> = []
    const guarded = Layer.project(UndiciClient.layer(), HttpClient.HttpClient, HttpClient.HttpClient, (client) => ({
      ...client,
      execute: (request) => {
        asked.push(request.method)
        return client.execute(HttpClientRequest.setHeader(request, "service-id", "kept back"))
      }
    }))
    yield* setup(options(service.origin), Layer.orDie(guarded))(search)
    expect(asked).toEqual(["POST", "GET"])
    expect(service.received.map(({ headers }) => headers["service-id"])).toEqual(["kept back", "kept back"])
  })
})

describe("plain http", () => {
  for (
    const host of [
      "service.example",
      "10.0.0.1",
      "192.168.0.1",
      "0.0.0.0",
      "[::2]",
      "127.0.0.1.service.example",
      "localhost.service.example",
      "notlocalhost"
    ]
  ) {
    plainTest(`is refused to ${host}`, function*() {
      yield* expectUnsent(options(`http://${host}/api`), { _tag: "ConfigurationError", field: "baseUrl" })
    })
  }

  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "api.localhost", "[::1]"]) {
    it.effect(`is taken to this machine itself as ${host}`, () =>
      setup(options(`http://${host}:8080`), counting().layer)(NutritionAdvisor.NutritionAdvisor))
  }

  it.effect("is taken to any host where allowInsecureHttp says so", () =>
    setup({ ...options("http://service.example"), allowInsecureHttp: true }, counting().layer)(
      NutritionAdvisor.NutritionAdvisor
    ))
})

describe("a key that no path can carry", () => {
  const keys = [
    ".",
    "..",
    "%2e",
    "%2E",
    "%2e%2E",
    ".%2e",
    "%2e.",
    "marker\ud800",
    "\udc00marker",
    "marker\udc00\ud800",
    "marker\u0000",
    "mar\nker",
    "marker\r\nHost: evil.example",
    "marker\u007f",
    "marker\u0085",
    "marker\n"
  ]

  for (const key of keys) {
    const licenseKey = Redacted.make(key)

    plainTest(`is refused at once, and nothing is sent: ${JSON.stringify(key)}`, function*() {
      const expected = { _tag: "ConfigurationError", field: "licenseKey" }
      yield* expectUnsent({ ...options("https://service.example"), licenseKey }, expected)
    })

    plainTest(`is refused where an effect reads it, and nothing is sent: ${JSON.stringify(key)}`, function*() {
      const settings = { ...options("https://service.example"), licenseKey: Effect.succeed(licenseKey) }
      yield* expectUnsent(settings, { _tag: "LicenseKeyUnavailable" })
    })
  }
})

describe("a key that is not redacted, from a program without types", () => {
  const raw = "marker-raw-key" as never

  for (
    const [where, licenseKey, _tag] of [
      ["as it is", raw, "ConfigurationError"],
      ["by an effect", Effect.succeed(raw), "LicenseKeyUnavailable"]
    ] as const
  ) {
    plainTest(`is refused where it is given ${where}, and nothing is sent`, function*() {
      yield* expectUnsent({ ...options("https://service.example"), licenseKey }, { _tag })
    })
  }
})

describe("what the service said", () => {
  const escapes = `\\u005c${"u005c".repeat(13_000)}`

  for (const { layer, name } of clients) {
    testLive.each(["token", "search"] as const)(
      `is kept of a %s call, 4 KiB of it, whatever it is escaped with, over ${name}`,
      function*(operation) {
        const service = yield* serve({ [operation === "token" ? "token" : "data"]: Replies.text(400, escapes) })
        expect(yield* Effect.flip(setup(options(service.origin), layer)(search))).toMatchObject({
          _tag: "BadRequest",
          operation,
          status: 400,
          body: Redacted.make(escapes.slice(0, 4096))
        })
      }
    )
  }

  testLive.each([409, 422])("is there for a user of httpClient: %d", function*(status) {
    const service = yield* serve({ data: Replies.answer(status, "{\"error\":\"no such plan\"}") })
    expect(yield* Effect.flip(setup(options(service.origin), FetchHttpClient.layer)(execute("/v2/plan"))))
      .toMatchObject({
        _tag: "UnexpectedResponse",
        operation: "request",
        status,
        reason: "Status",
        body: Redacted.make("{\"error\":\"no such plan\"}")
      })
  })

  testLive("is not in the message of the error", function*() {
    const service = yield* serve({ token: Replies.text(400, "the license has expired") })
    const error = yield* Effect.flip(setup(options(service.origin), FetchHttpClient.layer)(search))
    expect(error.message).not.toContain("expired")
  })
})
