import { Effect, Layer, Option } from "effect"
import { type AccessToken, TokenProvider } from "effect-nutrition-advisor"
import { tokenStatusOf } from "../../../src/internal/token/status.js"

/** A TokenProvider that always returns the first token, and the second one for each rejected token. It never exchanges a key. */
export const providerOf = (token: AccessToken.AccessToken, renewed = token) =>
  Layer.succeed(TokenProvider.TokenProvider, {
    get: Effect.succeed(token),
    renew: () => Effect.succeed(renewed),
    status: Effect.succeed(tokenStatusOf(Option.some({ token, state: "fresh" }), Option.none()))
  })
