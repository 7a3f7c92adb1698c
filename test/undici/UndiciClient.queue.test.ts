import { Readable, Stream as LegacyStream } from "node:stream"
import { HttpBody, HttpClient } from "@effect/platform"
import { describe, expect } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option, Redacted, type Scope } from "effect"
import { NutritionAdvisor, type RefreshPolicy, TokenIssuer, TokenProvider, TokenStore } from "effect-nutrition-advisor"
import { UndiciClient } from "effect-nutrition-advisor/undici"
import { Agent } from "undici"
import { ProviderPart } from "../../src/internal/token/providerPart.js"
import { testLive } from "../doubles/arranged.js"
import { untilHeldUp } from "../doubles/coolDown.js"
import { afterBody, eventually, replying, serve } from "../doubles/Wire.js"
import { deadOrigin } from "../leaks/LocalService.js"
import { advisor as advisorOver, tokenNamed, ways } from "./ways.js"

const licenseKey = Redacted.make("1f0c-queue-3b7e")

/** Takes the newest token alone, and holds the search for "hold" until it is let go. */
const service = Effect.gen(function*() {
  const seen: Array<string> = []
  const state = { accepted: "none", exchanges: 0, fails: false, release: (): void => {} }
  const wire = yield* serve(afterBody((_, request, response) => {
    const reply = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    }
    if (request.method === "POST") {
      state.exchanges += 1
      if (state.fails) return reply(500, {})
      state.accepted = `token-${state.exchanges}`
      return reply(200, { access_token: state.accepted, expires_in: 86_400, customer_id: "a-customer" })
    }
    const term = new URL(request.url ?? "", "http://service").searchParams.get("term")
    const token = request.headers.authorization?.slice("Bearer ".length)
    seen.push(`${term} ${token}`)
    const answer = () => token === state.accepted && term !== "refused" ? reply(200, { term }) : reply(403, {})
    if (term === "hold" && state.exchanges < 2) state.release = answer
    else answer()
  }))
  return { wire, seen, state }
})

const advisor = (origin: string, refresh: Partial<RefreshPolicy.RefreshPolicy> = {}) =>
  Effect.gen(function*() {
    const client = Layer.succeed(HttpClient.HttpClient, yield* UndiciClient.make({ connections: 1 }))
    const options = { baseUrl: origin, licenseKey }
    const context = yield* Layer.build(
      NutritionAdvisor.layerWithoutTokens(options).pipe(
        Layer.provide(TokenProvider.layer(refresh)),
        Layer.provide(TokenIssuer.layer(options)),
        Layer.provideMerge(TokenStore.layer),
        Layer.provide(client)
      )
    )
    return {
      search: Context.get(context, NutritionAdvisor.NutritionAdvisor).search,
      store: Context.get(context, TokenStore.TokenStore)
    }
  })

/** One search that holds the only connection, and as many that wait for it. */
const waiting = (
  { search }: Pick<NutritionAdvisor.Service, "search">,
  { seen }: { readonly seen: ReadonlyArray<string> },
  terms: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const holding = yield* Effect.fork(Effect.exit(search("hold")))
    yield* eventually(() => seen.some((each) => each.startsWith("hold")))
    const queued = yield* Effect.forEach(terms, (term) => Effect.fork(Effect.exit(search(term))))
    yield* Effect.sleep("50 millis")
    return Effect.forEach([holding, ...queued], Fiber.join).pipe(Effect.map((exits) => exits.map(({ _tag }) => _tag)))
  })

/** The token is revoked while one search holds the only connection and three wait for it. */
const revokedMeanwhile = Effect.gen(function*() {
  const foods = yield* service
  const joined = yield* waiting(yield* advisor(foods.wire.origin), foods, ["a", "b", "c"])
  foods.state.accepted = "another"
  foods.state.release()
  return { foods, ended: yield* joined }
})

describe("A search that waits for a connection", () => {
  testLive("goes out with the new token where its own was rejected twice meanwhile", function*() {
    const { ended, foods } = yield* revokedMeanwhile
    expect(ended).toEqual(["Success", "Success", "Success", "Success"])
    expect(foods.seen.slice(0, 2)).toEqual(["hold token-1", "a token-1"])
    expect(foods.seen.slice(2).sort()).toEqual(["a token-2", "b token-2", "c token-2", "hold token-2"])
  })

  testLive("lets the exchange that renews a rejected token go first", function*() {
    const { foods } = yield* revokedMeanwhile
    expect(foods.wire.requests.map(({ method }) => method).join(" ")).toBe("POST GET GET POST GET GET GET GET")
  })

  testLive("costs no connection where it is left for a new token", function*() {
    const { foods } = yield* revokedMeanwhile
    expect(foods.wire.connections.opened).toBe(1)
  })

  testLive("ends unsent in the error of the exchange where no new token is to be had", function*() {
    const foods = yield* service
    const { search } = yield* advisor(foods.wire.origin, { attempts: 1 })
    const holding = yield* Effect.fork(Effect.flip(search("hold")))
    yield* eventually(() => foods.seen.length === 1)
    const second = yield* Effect.fork(Effect.flip(search("a")))
    yield* Effect.sleep("50 millis")
    const third = yield* Effect.fork(Effect.flip(search("b")))
    yield* Effect.sleep("50 millis")
    foods.state.fails = true
    foods.state.accepted = "another"
    foods.state.release()
    yield* Fiber.joinAll([holding, second])
    expect(yield* Fiber.join(third)).toMatchObject({ _tag: "ServerError", operation: "token" })
    expect(foods.seen).toEqual(["hold token-1", "a token-1"])
  })

  testLive(
    "goes out with its own token where others were refused now and then, and no new token is to be had",
    function*() {
      const foods = yield* service
      const { search } = yield* advisor(foods.wire.origin, { attempts: 1 })
      yield* search("oats")
      foods.state.fails = true
      const exits = yield* Effect.forEach(["refused", "a", "refused", "b"], (term) => Effect.exit(search(term)), {
        concurrency: "unbounded"
      })
      expect(exits.map(({ _tag }) => _tag)).toEqual(["Failure", "Success", "Failure", "Success"])
    }
  )

  testLive("goes out with its own token where another search was refused for a reason of its own", function*() {
    const foods = yield* service
    const { search } = yield* advisor(foods.wire.origin)
    yield* Effect.flip(untilHeldUp(search("refused")))
    const { accepted } = foods.state
    const exits = yield* Effect.forEach(["refused", "a", "refused", "b"], (term) => Effect.exit(search(term)), {
      concurrency: "unbounded"
    })
    expect(exits.map(({ _tag }) => _tag)).toEqual(["Failure", "Success", "Failure", "Success"])
    expect(foods.seen.filter((each) => /^[ab]/.test(each)).sort()).toEqual([`a ${accepted}`, `b ${accepted}`])
  })

  testLive("goes out with its own token where another took its place without a rejection", function*() {
    const foods = yield* service
    const { search, store } = yield* advisor(foods.wire.origin)
    const joined = yield* waiting({ search }, foods, ["a"])
    yield* store.put(tokenNamed("newer"))
    foods.state.release()
    expect(yield* joined).toEqual(["Success", "Success"])
    expect(foods.seen).toEqual(["hold token-1", "a token-1"])
  })
})

/**
 * Its tokens are rejected as soon as they are given: each time it is asked, there is another one. It is a class, whose methods
 * need their `this`.
 */
class Hapless implements TokenProvider.Service {
  private given = 0
  readonly get = Effect.sync(() => tokenNamed(`token-${++this.given}`))
  readonly status = Effect.succeed<TokenProvider.TokenStatus>({
    state: "fresh",
    expiresAt: Option.none(),
    lastFailure: Option.none()
  })
  constructor() {
    ProviderPart.attach(this, { freshToken: () => undefined, isRejected: () => this.given > 0 })
  }
  renew() {
    return this.get
  }
  settled() {
    return Effect.void
  }
}

const hapless = Layer.sync(TokenProvider.TokenProvider, () => new Hapless())

describe("A request whose token was rejected when a connection takes it up", () => {
  const asked = (
    client: HttpClient.HttpClient,
    ask: (service: NutritionAdvisor.Service) => Effect.Effect<unknown, unknown>
  ) =>
    Effect.gen(function*() {
      const wire = yield* serve(replying("{}", { "content-type": "application/json" }))
      const context = yield* Layer.build(
        NutritionAdvisor.layerWithoutTokens({ baseUrl: wire.origin, licenseKey }).pipe(
          Layer.provide([hapless, Layer.succeed(HttpClient.HttpClient, client)])
        )
      )
      yield* ask(Context.get(context, NutritionAdvisor.NutritionAdvisor))
      return wire.requests.map(({ headers }) => headers.authorization)
    })

  testLive("is left unsent once and no more", function*() {
    const tokens = yield* asked(yield* UndiciClient.make(), ({ search }) => search("oats"))
    expect(tokens).toEqual(["Bearer token-2"])
  })

  testLive("is left unsent with a form, which is written anew", function*() {
    const body = HttpBody.formData(new FormData())
    const tokens = yield* asked(yield* UndiciClient.make(), ({ httpClient }) => httpClient.post("/v2/x", { body }))
    expect(tokens).toEqual(["Bearer token-2"])
  })

  testLive("is sent with it where its body can't be sent twice", function*() {
    const body = HttpBody.raw(Readable.from(["{}"]))
    const tokens = yield* asked(yield* UndiciClient.make(), ({ httpClient }) => httpClient.post("/v2/x", { body }))
    expect(tokens).toEqual(["Bearer token-1"])
  })

  testLive("is sent with it over a dispatcher of one's own, which would close a connection for it", function*() {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent()),
      (agent) => Effect.promise(() => agent.close())
    )
    const client = yield* UndiciClient.makeFromDispatcher(agent)
    expect(yield* asked(client, ({ search }) => search("oats"))).toEqual(["Bearer token-1"])
  })
})

describe("A body that is read while it is sent", () => {
  /** Interrupts a request that waits for the only connection, and lets the connection take it up. */
  const interrupted = (
    ask: (client: HttpClient.HttpClient, origin: string) => Effect.Effect<unknown, unknown, Scope.Scope>
  ) =>
    Effect.gen(function*() {
      const held: Array<() => void> = []
      const wire = yield* serve(afterBody((_, __, response) => held.push(() => response.end("{}"))))
      const client = yield* UndiciClient.make({ connections: 1 })
      const first = yield* Effect.fork(client.get(wire.origin))
      yield* eventually(() => held.length === 1)
      const queued = yield* Effect.fork(ask(client, wire.origin))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(queued)
      held[0]?.()
      yield* Effect.flatMap(Fiber.join(first), ({ text }) => text)
    })

  /** What undici takes for a stream without its being one of Node's own, as those of readable-stream. */
  class Foreign extends LegacyStream {
    destroyed = false
    destroy() {
      this.destroyed = true
    }
  }

  const streams = [
    { of: "Node", make: () => new Readable({ read: () => {} }) },
    { of: "another package", make: () => new Foreign() }
  ]

  testLive.each(streams)(
    "is destroyed where it is a stream of $of and its request was interrupted in the queue",
    function*({ make }) {
      const body = make()
      yield* interrupted((client, origin) =>
        Effect.flatMap(
          advisorOver(client, origin),
          ({ httpClient }) => httpClient.post("/v2/x", { body: HttpBody.raw(body) })
        )
      )
      expect(yield* eventually(() => body.destroyed)).toBe(true)
    }
  )

  const cases = ways.flatMap((way) => streams.map((stream) => ({ ...stream, ...way })))

  testLive.each(cases)(
    "is destroyed where it is a stream of $of and no connection came, $name",
    function*({ make, through }) {
      const body = make()
      const { httpClient } = yield* advisorOver(through(yield* UndiciClient.make()), yield* deadOrigin)
      yield* Effect.flip(httpClient.post("/v2/x", { body: HttpBody.raw(body) }))
      expect(yield* eventually(() => body.destroyed)).toBe(true)
    }
  )

  testLive.each(ways)("that throws as it is written ends its request in a failure, $name", function*({ through }) {
    const params = Object.assign(new URLSearchParams(), {
      toString: (): string => {
        throw new Error("a body of the user's")
      }
    })
    const { httpClient } = yield* advisorOver(through(yield* UndiciClient.make()), yield* deadOrigin)
    const error = yield* Effect.flip(httpClient.post("/v2/x", { body: HttpBody.raw(params) }))
    expect(error).toMatchObject({ _tag: "TransportError" })
  })

  testLive("may fail after its request was interrupted in the queue, and nobody dies of it", function*() {
    const uncaught: Array<unknown> = []
    const note = (error: unknown) => uncaught.push(error)
    yield* Effect.acquireRelease(
      Effect.sync(() => process.prependListener("uncaughtExceptionMonitor", note)),
      () => Effect.sync(() => process.off("uncaughtExceptionMonitor", note))
    )
    const body = new Readable({ read: () => {}, destroy: (_, close) => close(new Error("too late")) })
    yield* interrupted((client, origin) => client.post(origin, { body: HttpBody.raw(body) }))
    expect(yield* eventually(() => body.closed)).toBe(true)
    expect(uncaught).toEqual([])
  })
})
