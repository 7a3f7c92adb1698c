/**
 * A TokenIssuer that shares one token between replicas: it wraps another TokenIssuer, and only one replica at a time exchanges the
 * license key. The others read the token from a SharedTokenCache.
 *
 * @since 1.0.0
 * @module
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { type AccessToken, isSame } from "./AccessToken.js"
import { closed } from "./internal/errors/closed.js"
import { currentMonotonicMillis } from "./internal/runtime/clock.js"
import * as Settings from "./internal/settings/settings.js"
import * as Lease from "./internal/shared/lease.js"
import * as LeasedEntry from "./internal/shared/leasedEntry.js"
import { cacheFailures, sharedTokens } from "./internal/shared/metrics.js"
import * as Seal from "./internal/shared/seal.js"
import { LicenseKey, readLicenseKey } from "./internal/token/licenseKey.js"
import { withTokenTimeout } from "./internal/token/withTimeout.js"
import type { ConfigurationError, TokenError } from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"
import { SharedTokenCache } from "./SharedTokenCache.js"
import * as TokenIssuer from "./TokenIssuer.js"

/**
 * The options of TokenIssuer, plus `lease` and `cacheTimeout`. Replicas share a token if they have the same `baseUrl`, `tokenRoute`,
 * `licenseKey` and `serviceId`.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.SharingOptions {}

/** Checks that a token is not the replaced one, and was not received before it. */
const mayReplace = (replacing: Option.Option<AccessToken>) => (token: AccessToken): boolean =>
  Option.isNone(replacing) || (!isSame(replacing.value, token) && token.receivedAt >= replacing.value.receivedAt)

/** How long a replica waits for another one, in milliseconds. */
const longestWait = ({ lease, tokenTimeout }: Settings.SharingSettings) => lease + tokenTimeout

/**
 * The timeout of a flight, in milliseconds. It may wait for another replica, make three calls to the cache, and exchange the key.
 *
 * @internal
 */
export const flightTimeoutOf = (settings: Settings.SharingSettings): number =>
  longestWait(settings) + 3 * settings.cacheTimeout + settings.tokenTimeout

/**
 * How long a replica may wait for a failing cache, in milliseconds: half of `tokenTimeout` if callers are waiting. During a refresh,
 * callers still have a token, so the replica may wait for as long as that token is usable, up to `lease`.
 */
const patienceOf = (
  { lease, refresh, tokenTimeout }: Settings.SharingSettings,
  { reason, replacing }: TokenIssuer.ExchangeRequest,
  now: number
): number => {
  const whileCallersWait = tokenTimeout / 2
  if (reason !== "refresh" || Option.isNone(replacing)) return whileCallersWait
  const usable = replacing.value.expiresAt - RefreshPolicy.marginOf(refresh, replacing.value) - now
  return Math.max(whileCallersWait, Math.min(lease, usable))
}

/**
 * Creates an issuer that wraps the one in the context. It returns a usable token from the SharedTokenCache. If there is none, it acquires
 * the lease, reads the cache again, exchanges the license key and publishes the token. If another replica has the lease, it waits for the
 * token of that replica. If the cache fails, it logs a warning and exchanges the key itself. Fails with ConfigurationError if a setting
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
    const settings = yield* Settings.parseSharing(options)
    return yield* fromSettings(yield* TokenIssuer.TokenIssuer, settings)
  })

/** @internal */
export const fromSettings = (
  issuer: TokenIssuer.Service,
  settings: Settings.SharingSettings
): Effect.Effect<TokenIssuer.Service, never, SharedTokenCache | Scope.Scope> =>
  Effect.gen(function*() {
    const { cacheTimeout, refresh, tokenTimeout } = settings
    const cache = yield* SharedTokenCache
    const sealOf = Seal.makeCached(() => Settings.tokenIdentityOf(settings))
    const withinTokenTimeout = withTokenTimeout(tokenTimeout)
    let isClosed = false
    /** Closing this scope waits for a pending publication and release, for `cacheTimeout` at most. */
    const scope = yield* Effect.acquireRelease(
      Scope.make(ExecutionStrategy.parallel),
      (scope) =>
        Effect.suspend(() => {
          isClosed = true
          return Effect.ignore(LeasedEntry.withCacheTimeout(cacheTimeout)(Scope.close(scope, Exit.void)))
        })
    )
    yield* Effect.sync(() => [sharedTokens, cacheFailures].forEach(({ start }) => start()))
    /** This token is never read from the cache again, even if the exchange after its rejection failed. */
    let lastRejected = Option.none<AccessToken>()

    /** Runs an effect in its own fiber. If the caller is interrupted, the fiber still runs its uninterruptible part. */
    const inScope = <A>(effect: Effect.Effect<A, TokenError>): Effect.Effect<A, TokenError> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          Effect.forkIn(Effect.interruptible(effect), scope),
          (fiber) => Effect.onInterrupt(restore(Fiber.await(fiber)), () => Fiber.interruptFork(fiber))
        )
      ).pipe(Effect.flatMap((exit) => isClosed && Exit.isInterrupted(exit) ? closed("token") : exit))

    const issue: TokenIssuer.Service["issue"] = (request) =>
      Effect.gen(function*() {
        const startedAt = yield* currentMonotonicMillis
        if (request.reason === "rejection") lastRejected = request.replacing
        const replacing = Option.orElse(request.replacing, () => lastRejected)
        const licenseKey = yield* withinTokenTimeout(readLicenseKey(settings.licenseKey))
        const acquisition: Lease.Acquisition = {
          entry: LeasedEntry.make(cache, settings, scope, yield* sealOf(licenseKey)),
          waitsUntil: startedAt + longestWait(settings),
          patience: patienceOf(settings, request, yield* Clock.currentTimeMillis),
          policy: refresh,
          mayReplace: mayReplace(replacing),
          exchange: Effect.provideService(withinTokenTimeout(issuer.issue(request)), LicenseKey, licenseKey)
        }
        return yield* inScope(Lease.getToken(acquisition))
      }).pipe(Effect.withUnhandledErrorLogLevel(Option.none()))

    return { issue }
  })

/**
 * {@link make} as a layer. Fails with ConfigurationError if a setting is invalid.
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
