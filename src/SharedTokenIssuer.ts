/**
 * A TokenIssuer that shares one token between replicas: it wraps another TokenIssuer, and only one replica at a time exchanges the
 * license key. The others read the token from a SharedTokenCache.
 *
 * @since 1.0.0
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Composition from "./internal/settings/composition.js"
import type * as Sharing from "./internal/settings/sharing.js"
import * as SharedIssuer from "./internal/shared/issuer.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"
import type { SharedTokenCache } from "./SharedTokenCache.js"
import * as TokenIssuer from "./TokenIssuer.js"

/**
 * The options of TokenIssuer, plus `lease` and `cacheTimeout`. Replicas share a token if they have the same `baseUrl`, `tokenRoute`,
 * `licenseKey` and `serviceId`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Sharing.SharingOptions {}

/**
 * Creates an issuer that wraps the one in the context. It returns a usable token from the SharedTokenCache. If there is none, it acquires
 * the lease, reads the cache again, exchanges the license key and publishes the token. If another replica holds the lease, it waits for the
 * token of that replica. If the cache fails, it logs a warning and exchanges the key itself. Fails with ConfigurationError if an option
 * is invalid.
 *
 * @since 1.0.0
 * @category constructors
 */
export const make = (
  options: Options
): Effect.Effect<
  TokenIssuer.Service,
  ConfigurationError,
  TokenIssuer.TokenIssuer | SharedTokenCache | Scope.Scope
> =>
  Effect.gen(function*() {
    const settings = yield* Composition.parseSharing(options)
    return yield* SharedIssuer.make(yield* TokenIssuer.TokenIssuer, settings)
  })

/**
 * Provides the issuer of {@link make}. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<
  TokenIssuer.TokenIssuer,
  ConfigurationError,
  TokenIssuer.TokenIssuer | SharedTokenCache
> => Layer.scoped(TokenIssuer.TokenIssuer, make(options))
