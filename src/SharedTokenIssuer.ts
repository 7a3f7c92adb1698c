/**
 * A TokenIssuer around a TokenIssuer: replicas share one token through a SharedTokenCache, and one of them exchanges.
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
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { type AccessToken, isSame } from "./AccessToken.js"
import { currentMonotonicMillis } from "./internal/clock.js"
import { closed } from "./internal/closed.js"
import * as Settings from "./internal/settings.js"
import * as Lease from "./internal/shared/lease.js"
import { cacheFailures, sharedTokens } from "./internal/shared/metrics.js"
import * as Seal from "./internal/shared/seal.js"
import { LicenseKey, readLicenseKey } from "./internal/token/licenseKey.js"
import { withTokenTimeout } from "./internal/token/withTimeout.js"
import type { ConfigurationError, TokenError } from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"
import { SharedTokenCache } from "./SharedTokenCache.js"
import * as TokenIssuer from "./TokenIssuer.js"

/**
 * The settings of the TokenIssuer, and two for the sharing. Replicas share a token where base URL, token route, license key and
 * service id are the same.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends Settings.SharingOptions {}

const entryIdentityOf = ({ base, routeTemplate, serviceId }: Settings.ExchangeSettings): ReadonlyArray<string> => [
  base.href,
  routeTemplate,
  serviceId === undefined ? "" : Redacted.value(serviceId)
]

/** Not the token that is replaced, and received no earlier. */
const isNext = (replacing: Option.Option<AccessToken>) => (token: AccessToken): boolean =>
  Option.match(replacing, {
    onNone: () => true,
    onSome: (replaced) => !isSame(replaced, token) && token.receivedAt >= replaced.receivedAt
  })

/**
 * How long a replica may wait for a cache that fails, in milliseconds: half of `tokenTimeout` while callers wait. Callers of a refresh
 * have a token, so it may take as long as that one can be used, up to `lease`.
 */
const patienceOf = (
  { lease, policy, tokenTimeout }: Settings.SharingSettings,
  { reason, replacing }: TokenIssuer.ExchangeRequest,
  now: number
): number => {
  const whileCallersWait = tokenTimeout / 2
  if (reason !== "refresh" || Option.isNone(replacing)) return whileCallersWait
  const usable = replacing.value.expiresAt - RefreshPolicy.marginOf(policy, replacing.value) - now
  return Math.max(whileCallersWait, Math.min(lease, usable))
}

/**
 * An issuer around the one in the context. It takes a usable token out of the SharedTokenCache; where there is none, it takes
 * the lease, looks again, exchanges and publishes, or waits for the peer who does. A cache that fails costs a warning. Ends in
 * ConfigurationError where a setting is wrong.
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
    return yield* around(yield* TokenIssuer.TokenIssuer, settings)
  })

/** @internal */
export const around = (
  issuer: TokenIssuer.Service,
  settings: Settings.SharingSettings
): Effect.Effect<TokenIssuer.Service, never, SharedTokenCache | Scope.Scope> =>
  Effect.gen(function*() {
    const { cacheTimeout, lease, policy, tokenTimeout } = settings
    const cache = yield* SharedTokenCache
    const sealOf = Seal.makeCached(() => entryIdentityOf(settings))
    const inTime = withTokenTimeout(tokenTimeout)
    let isClosed = false
    /** Closing it waits for a publication and a release under way. */
    const scope = yield* Effect.acquireRelease(
      Scope.make(ExecutionStrategy.parallel),
      (scope) =>
        Effect.suspend(() => {
          isClosed = true
          return Effect.ignore(Lease.withCacheTimeout(cacheTimeout)(Scope.close(scope, Exit.void)))
        })
    )
    yield* Effect.sync(() => [sharedTokens, cacheFailures].forEach(({ start }) => start()))
    /** It is not taken out of the cache again where the exchange after the rejection has failed. */
    let lastRejected = Option.none<AccessToken>()
    /** The peer's token that replaced a rejected one. If it is rejected within the cool-down, too, the key must be exchanged. */
    let handedOver: { readonly token: AccessToken; readonly until: number } | undefined

    /** Runs in a fiber of its own. If the caller leaves, the fiber continues as far as it must. */
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
        const isRejection = request.reason === "rejection"
        const lastHandedOver = handedOver !== undefined && startedAt < handedOver.until ? handedOver.token : undefined
        if (isRejection) lastRejected = request.replacing
        const replacing = Option.orElse(request.replacing, () => lastRejected)
        const licenseKey = yield* inTime(readLicenseKey(settings.licenseKey))
        const attempt: Lease.Attempt = {
          cache,
          cacheTimeout,
          seal: yield* sealOf(licenseKey),
          owner: globalThis.crypto.randomUUID(),
          lease,
          waitsUntil: startedAt + lease + tokenTimeout,
          patience: patienceOf(settings, request, yield* Clock.currentTimeMillis),
          policy,
          isNext: isNext(replacing),
          mustExchange: isRejection && lastHandedOver !== undefined &&
            Option.exists(request.replacing, (token) => isSame(token, lastHandedOver)),
          exchange: Effect.provideService(inTime(issuer.issue(request)), LicenseKey, licenseKey),
          scope
        }
        const token = yield* inScope(Lease.getToken(attempt))
        if (isRejection && token.isFromPeer === true) {
          handedOver = { token, until: (yield* currentMonotonicMillis) + policy.coolDown }
        }
        return token
      }).pipe(Effect.withUnhandledErrorLogLevel(Option.none()))

    return { issue }
  })

/**
 * An issuer around the one in the context, over the SharedTokenCache in the context. Building it ends in ConfigurationError
 * where a setting is wrong.
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
