import { Clock, Context, type Duration, Effect, Layer, Option, Redacted, Ref } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  type RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"

export type Outcome = Effect.Effect<AccessToken.AccessToken, NutritionAdvisorError.TokenError>

export interface Service {
  readonly calls: Effect.Effect<number>
  /** When each exchange began, in epoch milliseconds. */
  readonly starts: Effect.Effect<ReadonlyArray<number>>
  readonly requests: Effect.Effect<ReadonlyArray<TokenIssuer.ExchangeRequest>>
  /** Exchanges that were interrupted before they ended. */
  readonly interrupted: Effect.Effect<number>
  readonly setLatency: (latency: Duration.DurationInput) => Effect.Effect<void>
  readonly setLife: (millis: number) => Effect.Effect<void>
  /** The next exchanges end like this, in this order, before new tokens are issued again. */
  readonly respondNext: (...outcomes: Array<Outcome>) => Effect.Effect<void>
  readonly respondAlways: (outcome: Outcome | undefined) => Effect.Effect<void>
}

/** There is no token. */
export const missing: TokenIssuer.ExchangeRequest = { reason: "missing", replacing: Option.none() }

/** A TokenIssuer without HTTP: it counts, waits and responds as planned. */
export class IssuerDouble extends Context.Tag("test/support/doubles/IssuerDouble")<IssuerDouble, Service>() {}

export const secretOf = (number: number): string => `secret-token-${number}`

export const customerOf = (number: number): string => `secret-customer-${number}`

export const token = (number: number, receivedAt: number, life: number): AccessToken.AccessToken =>
  AccessToken.make({
    value: secretOf(number),
    serviceId: customerOf(number),
    receivedAt,
    expiresAt: receivedAt + life
  })

/** An outcome that returns the token of this number, received now, with this life in milliseconds. */
export const issued = (number: number, life: number): Outcome =>
  Effect.map(Clock.currentTimeMillis, (now) => token(number, now, life))

const make = Effect.gen(function*() {
  const starts = yield* Ref.make<ReadonlyArray<number>>([])
  const requests = yield* Ref.make<ReadonlyArray<TokenIssuer.ExchangeRequest>>([])
  const interrupted = yield* Ref.make(0)
  const tokens = yield* Ref.make(0)
  const latency = yield* Ref.make<Duration.DurationInput>(0)
  const life = yield* Ref.make(1_000_000)
  const planned = yield* Ref.make<ReadonlyArray<Outcome>>([])
  const always = yield* Ref.make<Outcome | undefined>(undefined)

  const fresh = Effect.gen(function*() {
    const number = yield* Ref.updateAndGet(tokens, (count) => count + 1)
    return yield* issued(number, yield* Ref.get(life))
  })

  const issue: TokenIssuer.Service["issue"] = (request) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      yield* Ref.update(starts, (times) => [...times, now])
      yield* Ref.update(requests, (all) => [...all, request])
      const next = yield* Ref.modify(planned, ([first, ...rest]) => [first, rest])
      const outcome = next ?? (yield* Ref.get(always)) ?? fresh
      const wait = yield* Ref.get(latency)
      return yield* wait === 0 ? outcome : Effect.zipRight(Effect.sleep(wait), outcome)
    }).pipe(Effect.onInterrupt(() => Ref.update(interrupted, (count) => count + 1)))

  const service: Service = {
    calls: Effect.map(Ref.get(starts), (times) => times.length),
    starts: Ref.get(starts),
    requests: Ref.get(requests),
    interrupted: Ref.get(interrupted),
    setLatency: (duration) => Ref.set(latency, duration),
    setLife: (millis) => Ref.set(life, millis),
    respondNext: (...outcomes) => Ref.update(planned, (before) => [...before, ...outcomes]),
    respondAlways: (outcome) => Ref.set(always, outcome)
  }
  return Context.make(IssuerDouble, service).pipe(Context.add(TokenIssuer.TokenIssuer, { issue }))
})

export const layer: Layer.Layer<IssuerDouble | TokenIssuer.TokenIssuer> = Layer.effectContext(make)

/** The real provider and the real store over the double. */
export const layerProvider = (policy?: Partial<RefreshPolicy.RefreshPolicy>) =>
  TokenProvider.layer(policy).pipe(Layer.provideMerge(Layer.merge(layer, TokenStore.layer)), Layer.orDie)

/** The same, without the Schedule: no test of theirs pays for its wakes. */
export const layerOnDemand = layerProvider({ background: false })

export const services = Effect.all({
  issuer: IssuerDouble,
  provider: TokenProvider.TokenProvider,
  store: TokenStore.TokenStore
})

export const valueOf = (token: AccessToken.AccessToken): string => Redacted.value(token.value)

/** The error of a 503 of the token route. */
export const unavailable = new NutritionAdvisorError.ServerError({ operation: "token", status: 503 })

/** A provider that has its first token, received now. */
export const begun = Effect.flatMap(services, (all) => Effect.map(all.provider.get, (first) => ({ ...all, first })))

/** A provider that cools down: `held` is the second token that a renewal returned, and `calls` exchanges have been made. */
export const coolingDown = Effect.gen(function*() {
  const all = yield* begun
  const held = yield* Effect.flatMap(all.provider.renew(all.first), all.provider.renew)
  return { ...all, held, calls: yield* all.issuer.calls }
})
