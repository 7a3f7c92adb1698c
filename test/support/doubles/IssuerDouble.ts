import { Clock, Context, type Duration, Effect, Layer, Option, Redacted } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  type RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"

export type Outcome = Effect.Effect<AccessToken.AccessToken, NutritionAdvisorError.TokenError>

/** There is no token. */
export const missing: TokenIssuer.ExchangeRequest = { reason: "missing", replacing: Option.none() }

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

const make = Effect.sync(() => {
  const starts: Array<number> = []
  const requests: Array<TokenIssuer.ExchangeRequest> = []
  const planned: Array<Outcome> = []
  let always: Outcome | undefined
  let interrupted = 0
  let tokens = 0
  let latency: Duration.DurationInput = 0
  let life = 1_000_000

  const fresh = Effect.suspend(() => {
    tokens += 1
    return issued(tokens, life)
  })

  const issue: TokenIssuer.Service["issue"] = (request) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      starts.push(now)
      requests.push(request)
      const outcome = planned.shift() ?? always ?? fresh
      return latency === 0 ? outcome : Effect.zipRight(Effect.sleep(latency), outcome)
    }).pipe(Effect.onInterrupt(() =>
      Effect.sync(() => {
        interrupted += 1
      })
    ))

  const service: Service = {
    calls: Effect.sync(() => starts.length),
    starts: Effect.sync(() => [...starts]),
    requests: Effect.sync(() => [...requests]),
    interrupted: Effect.sync(() => interrupted),
    setLatency: (duration) =>
      Effect.sync(() => {
        latency = duration
      }),
    setLife: (millis) =>
      Effect.sync(() => {
        life = millis
      }),
    respondNext: (...outcomes) => Effect.sync(() => void planned.push(...outcomes)),
    respondAlways: (outcome) =>
      Effect.sync(() => {
        always = outcome
      })
  }
  return Context.make(IssuerDouble, service).pipe(Context.add(TokenIssuer.TokenIssuer, { issue }))
})

export const layer: Layer.Layer<IssuerDouble | TokenIssuer.TokenIssuer> = Layer.effectContext(make)

/** The real provider and the real store over the double. */
export const layerProvider = (policy?: Partial<RefreshPolicy.RefreshPolicy>) =>
  TokenProvider.layer(policy).pipe(Layer.provideMerge(Layer.merge(layer, TokenStore.layer)), Layer.orDie)

/** The same, without the Schedule: no test of theirs pays for its wakes. */
export const layerOnDemand = layerProvider({ background: false })

export const providerServices = Effect.all({
  issuer: IssuerDouble,
  provider: TokenProvider.TokenProvider,
  store: TokenStore.TokenStore
})

export const valueOf = (token: AccessToken.AccessToken): string => Redacted.value(token.value)

/** The error of a 503 of the token route. */
export const unavailable = new NutritionAdvisorError.ServerError({ operation: "token", status: 503 })

/** A provider that has its first token, received now. */
export const withFirstToken = Effect.flatMap(
  providerServices,
  (all) => Effect.map(all.provider.get, (first) => ({ ...all, first }))
)

/** A provider that cools down: `held` is the second token that a renewal returned, and `calls` exchanges have been made. */
export const coolingDown = Effect.gen(function*() {
  const all = yield* withFirstToken
  const held = yield* Effect.flatMap(all.provider.renew(all.first), all.provider.renew)
  return { ...all, held, calls: yield* all.issuer.calls }
})
