import { Clock, Context, type Duration, Effect, Layer, Option, Redacted } from "effect"
import {
  AccessToken,
  NutritionAdvisorError,
  type RefreshPolicy,
  TokenIssuer,
  TokenProvider,
  TokenStore
} from "effect-nutrition-advisor"
import { arranged } from "./arranged.js"

export type Outcome = Effect.Effect<AccessToken.AccessToken, NutritionAdvisorError.TokenError>

/** The request for a token if there is none. */
export const missing: TokenIssuer.ExchangeRequest = { reason: "missing", replacing: Option.none() }

export const secretOf = (number: number): string => `secret-token-${number}`

type AllFields = Required<Parameters<typeof AccessToken.make>[0]>

/** A token with every optional field, so that tests notice a field that gets lost. */
export const token = (number: number, receivedAt: number, life: number): AccessToken.AccessToken => {
  const fields: AllFields = {
    value: secretOf(number),
    serviceId: `secret-customer-${number}`,
    scope: "read:search",
    receivedAt,
    expiresAt: receivedAt + life
  }
  return AccessToken.make(fields)
}

/** The token as a replica gets it that didn't exchange the key. */
export const fromPeer = (
  token: AccessToken.AccessToken,
  times: Partial<AccessToken.AccessToken> = {}
): AccessToken.AccessToken => new AccessToken.AccessToken({ ...token, ...times, isFromPeer: true })

/** An outcome that returns the token of this number, received now, with this life in milliseconds. */
export const issued = (number: number, life: number): Outcome =>
  Effect.map(Clock.currentTimeMillis, (now) => token(number, now, life))

const usualLife = 1_000_000

const make = Effect.sync(() => {
  const starts: Array<number> = []
  const planned: Array<Outcome> = []
  const counts = { interrupted: 0, tokens: 0 }
  let always: Outcome = Effect.suspend(() => issued(++counts.tokens, usualLife))
  let latency: Duration.DurationInput = 0

  const issue: TokenIssuer.Service["issue"] = () =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      starts.push(now)
      const outcome = planned.shift() ?? always
      return latency === 0 ? outcome : Effect.zipRight(Effect.sleep(latency), outcome)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => counts.interrupted++)))

  return {
    issue,
    calls: Effect.sync(() => starts.length),
    /** When each exchange started, in epoch milliseconds. */
    starts: Effect.sync(() => [...starts]),
    /** The number of exchanges that were interrupted. */
    interrupted: Effect.sync(() => counts.interrupted),
    setLatency: (duration: Duration.DurationInput) => Effect.sync(() => void (latency = duration)),
    /** The next exchanges end with these outcomes, in this order. */
    respondNext: (...outcomes: Array<Outcome>) => Effect.sync(() => void planned.push(...outcomes)),
    /** All other exchanges end with this outcome instead of a new token. */
    respondAlways: (outcome: Outcome) => Effect.sync(() => void (always = outcome))
  }
})

/** A TokenIssuer without HTTP. Tests set its outcomes, and read its calls. */
export class IssuerDouble extends Context.Tag("test/support/doubles/IssuerDouble")<
  IssuerDouble,
  Effect.Effect.Success<typeof make>
>() {}

export const layer: Layer.Layer<IssuerDouble | TokenIssuer.TokenIssuer> = Layer.effectContext(
  Effect.map(make, (double) => Context.make(IssuerDouble, double).pipe(Context.add(TokenIssuer.TokenIssuer, double)))
)

/** The real provider and the real store over the double. */
export const layerProvider = (policy?: RefreshPolicy.Options) =>
  TokenProvider.layer(policy).pipe(Layer.provideMerge(Layer.merge(layer, TokenStore.layer)), Layer.orDie)

/** The same, without refreshes in the background. */
export const layerOnDemand = layerProvider({ background: false })

export const providerServices = Effect.all({
  issuer: IssuerDouble,
  provider: TokenProvider.TokenProvider,
  store: TokenStore.TokenStore
})

export const valueOf = (token: AccessToken.AccessToken): string => Redacted.value(token.value)

/** The error of an exchange that gets a 503. */
export const unavailable = new NutritionAdvisorError.ServerError({ operation: "token", status: 503 })

export const withFirstToken = Effect.flatMap(
  providerServices,
  (all) => Effect.map(all.provider.get, (first) => ({ ...all, first }))
)

/** Tests with only an issuer, which create their own provider and store. */
export const withIssuer = arranged(IssuerDouble, layer)

/** Tests before the first exchange, without refreshes in the background. */
export const withoutToken = arranged(providerServices, layerOnDemand)

/** Tests with a first token that was just received, without refreshes in the background. */
export const withToken = arranged(withFirstToken, layerOnDemand)
