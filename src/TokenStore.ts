/**
 * Where the current token lives.
 *
 * @since 1.0.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MutableRef from "effect/MutableRef"
import * as Option from "effect/Option"
import * as AccessToken from "./AccessToken.js"
import { memoryPart } from "./internal/store/memoryPart.js"

/**
 * How the one current token is read, replaced and removed. Nothing of it can fail, and each effect must end: callers wait for it, and
 * so does the end of the layer.
 *
 * @since 1.0.0
 * @category models
 */
export interface Service {
  /** The token that was put last and not removed since. */
  readonly current: Effect.Effect<Option.Option<AccessToken.AccessToken>>
  /** Makes the token the current one, whatever is there. */
  readonly put: (token: AccessToken.AccessToken) => Effect.Effect<void>
  /** Removes the token only if it is still the current one; returns whether it was. */
  readonly invalidate: (used: AccessToken.AccessToken) => Effect.Effect<boolean>
}

/**
 * The place of the one current token, with removal by comparison: a late rejection of an old token harms nothing.
 *
 * @since 1.0.0
 * @category tags
 */
export class TokenStore extends Context.Tag("effect-nutrition-advisor/TokenStore")<TokenStore, Service>() {}

const Memory = memoryPart<Service>()

const inMemory = (storeOf: (self: Service) => (issuer: object) => Service): Service => {
  const ref = MutableRef.make(Option.none<AccessToken.AccessToken>())
  const current = () => MutableRef.get(ref)
  const self: Service = {
    current: Effect.sync(current),
    put: (token) => Effect.sync(() => MutableRef.set(ref, Option.some(token))),
    invalidate: (used) =>
      Effect.sync(() => {
        const isCurrent = Option.exists(current(), (token) => AccessToken.isSame(token, used))
        if (isCurrent) MutableRef.set(ref, Option.none())
        return isCurrent
      })
  }
  return Memory.attach(self, { current, storeOf: storeOf(self) })
}

const forEveryIssuer = (): Service => inMemory((self) => () => self)

/** The first issuer has the store itself, each further one another. */
const forEachIssuer = (): Service =>
  inMemory((self) => {
    const stores = new WeakMap<object, Service>()
    let isTaken = false
    return (issuer) => {
      const store = stores.get(issuer) ?? (isTaken ? forEveryIssuer() : self)
      isTaken = true
      stores.set(issuer, store)
      return store
    }
  })

/**
 * An empty store in memory, in a Ref of its own.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make: Effect.Effect<Service> = Effect.sync(forEveryIssuer)

/**
 * An empty store in memory: a token lives as long as the layer. Effect builds this value once for a whole program, so each
 * TokenIssuer gets a store of its own from it: two license keys never share a token.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer: Layer.Layer<TokenStore> = Layer.sync(TokenStore, forEachIssuer)

/**
 * A store that always has one given token: for tests, and for tokens that another program renews.
 *
 * @since 1.0.0
 * @category layers
 */
export const layerStatic = (token: AccessToken.AccessToken): Layer.Layer<TokenStore> =>
  Layer.sync(TokenStore, () => {
    const current = Option.some(token)
    const self: Service = {
      current: Effect.succeed(current),
      put: () => Effect.void,
      invalidate: () => Effect.succeed(false)
    }
    return Memory.attach(self, { current: () => current, storeOf: () => self })
  })
