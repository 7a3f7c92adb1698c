/** Parts that users bring, of which a call may hang, die, lie or come back late, and the service behind them. */
import type { HttpClientRequest } from "@effect/platform"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { Effect, Layer, Redacted, Stream } from "effect"
import type { TokenIssuer, TokenStore } from "effect-nutrition-advisor"
import { NutritionAdvisorError, SharedTokenCache } from "effect-nutrition-advisor"
import * as BrokenStore from "./BrokenStore.js"

export const parts = ["key", "client", "body", "issuer", "store", "cache"] as const

export type Part = typeof parts[number]

export const faults = [
  ...["hang", "hang for good", "late", "die", "throw", "interrupt", "fail", "leak", "nonsense", "no effect"] as const
]

export type Fault = typeof faults[number]

const secret = BrokenStore.secret

const wiped = Redacted.make("wiped")
Redacted.unsafeWipe(wiped)

type Lies = ReadonlyArray<unknown>

const keys: Lies = [undefined, "a plain key", Redacted.make(7), Redacted.make(""), Redacted.make(".."), wiped]

const answersOfCaches: Lies = [undefined, null, 7, "granted", {}, { owner: "a peer", remaining: -1 }, {
  owner: "a peer"
}]

const answersOfClients: Lies = [
  undefined,
  {},
  { status: 200 },
  { status: Number.NaN, headers: {} },
  { status: "200", headers: null, stream: 5 },
  new Proxy({}, {
    get: () => {
      throw new Error(secret)
    }
  })
]

const chunks: Lies = [undefined, "a text", 7, new Uint8Array(100_000)]

/** Answers of the service: the status and text of the body of each call. */
export type Answer = (request: HttpClientRequest.HttpClientRequest) => readonly [status: number, text: string]

/** What a response of the platform costs in turns of the event loop, of which a model of time knows nothing. */
const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  status: number,
  stream: Stream.Stream<Uint8Array, HttpClientError.ResponseError>
) =>
  Object.defineProperty(HttpClientResponse.fromWeb(request, new Response(null, { status })), "stream", {
    value: stream
  })

export class HostileParts {
  readonly planned: Array<readonly [Part, Fault]> = []
  /** The chance of a fault in each call. */
  chance = 0
  /** Token requests that run now, and at most at any time. */
  readonly exchanges = { running: 0, most: 0 }

  constructor(private readonly random: () => number, private readonly answer: Answer) {}

  private pick<A>(all: ReadonlyArray<A>): A {
    return all[Math.floor(this.random() * all.length)] as A
  }

  private faultOf(part: Part): Fault | undefined {
    const index = this.planned.findIndex(([planned]) => planned === part)
    const [fault] = index === -1 ? [] : this.planned.splice(index, 1)
    return fault?.[1] ?? (this.random() < this.chance ? this.pick(faults) : undefined)
  }

  /** Not in an effect: a part may throw as it is called. */
  private call<A, E>(part: Part, lies: Lies, failure: E, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    switch (this.faultOf(part)) {
      case undefined:
        return effect
      case "hang":
        return Effect.never
      case "hang for good":
        return Effect.uninterruptible(Effect.delay(Effect.never, "1 minute"))
      case "late":
        return Effect.zipRight(BrokenStore.late, effect)
      case "die":
        return Effect.die(new Error(secret))
      case "throw":
        throw new Error(secret)
      case "interrupt":
        return Effect.interrupt
      case "fail":
        return Effect.fail(failure)
      case "leak":
        return Effect.fail(secret as never)
      case "nonsense":
        return Effect.succeed(this.pick(lies) as never)
      case "no effect":
        return this.pick([undefined, 7, Promise.resolve(secret)]) as never
    }
  }

  readonly licenseKey = Effect.suspend(() =>
    this.call(
      "key",
      keys,
      new NutritionAdvisorError.LicenseKeyUnavailable({}),
      Effect.succeed(Redacted.make("license-7f3a"))
    )
  )

  readonly client = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap((request) => {
        const failure = new HttpClientError.RequestError({ request, reason: "Transport", cause: new Error(secret) })
        const respond = Effect.delay(this.respond(request), 20)
        return this.call(
          "client",
          answersOfClients,
          failure,
          request.method === "POST" ? this.counted(respond) : respond
        )
      }),
      Effect.succeed
    )
  )

  private counted<A, E>(exchange: Effect.Effect<A, E>) {
    const { exchanges } = this
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        exchanges.running += 1
        exchanges.most = Math.max(exchanges.most, exchanges.running)
      }),
      () => exchange,
      () =>
        Effect.sync(() => {
          exchanges.running -= 1
        })
    )
  }

  private respond(request: HttpClientRequest.HttpClientRequest) {
    return Effect.sync(() => {
      const [status, text] = this.answer(request)
      const response = responseOf(request, status, Stream.empty)
      const failure = new HttpClientError.ResponseError({ request, response, reason: "Decode" })
      const chunk = Effect.succeed(new TextEncoder().encode(text))
      return responseOf(
        request,
        status,
        Stream.fromEffect(Effect.suspend(() => this.call("body", chunks, failure, chunk)))
      )
    })
  }

  issuer(inner: TokenIssuer.Service): TokenIssuer.Service {
    const failure = new NutritionAdvisorError.ServerError({ operation: "token", status: 500 })
    return { issue: (request) => this.call("issuer", BrokenStore.nonsense, failure, inner.issue(request)) }
  }

  store(inner: TokenStore.Service): TokenStore.Service {
    const call = <A>(effect: Effect.Effect<A>) =>
      Effect.suspend(() => this.call("store", BrokenStore.nonsense, secret as never, effect))
    return {
      current: call(inner.current),
      put: (token) => call(inner.put(token)),
      invalidate: (used) => call(inner.invalidate(used))
    }
  }

  cache(inner: SharedTokenCache.Service): SharedTokenCache.Service {
    const failure = new SharedTokenCache.SharedTokenCacheError({ reason: "Unavailable" })
    const call = <A>(answer: Effect.Effect<A, SharedTokenCache.SharedTokenCacheError>) =>
      this.call("cache", answersOfCaches, failure, Effect.delay(answer, 5))
    return {
      read: (name) => call(inner.read(name)),
      write: (name, entry, options) => call(inner.write(name, entry, options)),
      remove: (name, entry) => call(inner.remove(name, entry)),
      lease: (name, owner, duration) => call(inner.lease(name, owner, duration)),
      release: (name, owner) => call(inner.release(name, owner)),
      changes: (name) => Stream.unwrap(call(Effect.succeed(inner.changes(name))))
    }
  }
}
