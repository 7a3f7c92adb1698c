/**
 * Where the current token lives.
 *
 * @since 1.0.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as AccessToken from "./AccessToken.js"

/**
 * How the one current token is read, replaced and removed; nothing of it can fail.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The token that was put last and not removed since. */
  readonly current: Effect.Effect<Option.Option<AccessToken.AccessToken>>
  /** The same at once, without an effect: for the hot path of a store that lives in memory. */
  readonly unsafeCurrent?: (() => Option.Option<AccessToken.AccessToken>) | undefined
  /** Makes the token the current one, whatever is there. */
  readonly put: (token: AccessToken.AccessToken) => Effect.Effect<void>
  /** Removes the token only if it is still the current one, and tells whether it was. */
  readonly invalidate: (used: AccessToken.AccessToken) => Effect.Effect<boolean>
}

/**
 * The place of the one current token, with removal by comparison: a late rejection of an old token harms nothing.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenStore extends Context.Tag("effect-nutrition-advisor/TokenStore")<TokenStore, Service>() {}

/**
 * An empty store in a Ref.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make: Effect.Effect<Service> = Effect.map(
  Ref.make(Option.none<AccessToken.AccessToken>()),
  (ref) => {
    /** What the Ref holds, for those who look without an effect. */
    let latest = Option.none<AccessToken.AccessToken>()
    const become = (token: Option.Option<AccessToken.AccessToken>) => latest = token
    return {
      current: Ref.get(ref),
      unsafeCurrent: () => latest,
      put: (token) => Ref.update(ref, () => become(Option.some(token))),
      invalidate: (used) =>
        Ref.modify(ref, (current) =>
          Option.exists(current, (token) => AccessToken.isSame(token, used))
            ? [true, become(Option.none())]
            : [false, current])
    }
  }
)

/**
 * An empty store in memory: a token lives as long as the process.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer: Layer.Layer<TokenStore> = Layer.effect(TokenStore, make)

/**
 * A store that holds one given token for ever: for tests, and for tokens that someone else keeps alive.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerStatic = (token: AccessToken.AccessToken): Layer.Layer<TokenStore> =>
  Layer.sync(TokenStore, () => {
    const current = Option.some(token)
    return {
      current: Effect.succeed(current),
      unsafeCurrent: () => current,
      put: () => Effect.void,
      invalidate: () => Effect.succeed(false)
    }
  })
