import { Effect, Layer, Option } from "effect"
import { type AccessToken, TokenProvider } from "effect-nutrition-advisor"

/** A TokenProvider that always has a token, and another one for each that is rejected: no exchange, cool-down or backoff. */
export const providerOf = (token: AccessToken.AccessToken, renewed = token) =>
  Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.succeed(token),
    renew: () => Effect.succeed(renewed),
    status: Effect.succeed<TokenProvider.TokenStatus>({
      state: "fresh",
      expiresAt: Option.none(),
      lastFailure: Option.none()
    })
  })
