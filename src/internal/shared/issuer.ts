import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { type AccessToken, isSame, usableUntil } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import { SharedTokenCache } from "../../SharedTokenCache.js"
import type { ExchangeRequest, Service as Issuer } from "../../TokenIssuer.js"
import { closedError } from "../errors/transportErrors.js"
import { currentMonotonicMillis } from "../runtime/clock.js"
import { onClose } from "../runtime/onClose.js"
import { withTimeout } from "../runtime/withTimeout.js"
import * as Settings from "../settings/settings.js"
import type * as Sharing from "../settings/sharing.js"
import { withTimeoutRepeatingIfSuspended } from "../token/exchangeTimeout.js"
import { LicenseKey, readLicenseKey } from "../token/readLicenseKey.js"
import { acquireToken } from "./acquireToken.js"
import * as LeasedEntry from "./leasedEntry.js"
import { cacheFailures, sharedTokens } from "./metrics.js"
import * as Seal from "./seal.js"

/** Whether a token isn't the one to replace, and was not received before it. */
const mayReplace = (replacing: Option.Option<AccessToken>) => (token: AccessToken): boolean =>
  Option.isNone(replacing) || (!isSame(replacing.value, token) && token.receivedAt >= replacing.value.receivedAt)

/**
 * How long a replica may wait for a failing cache, in milliseconds: half of `tokenTimeout` if callers are waiting. During a refresh,
 * callers still have a token, so the replica may wait for as long as that token is usable, up to `lease`.
 */
const maxCacheOutageOf = (
  { lease, refresh, tokenTimeout }: Sharing.SharingSettings,
  { reason, replacing }: ExchangeRequest,
  now: number
): number => {
  const whileCallersWait = tokenTimeout / 2
  if (reason !== "refresh" || Option.isNone(replacing)) return whileCallersWait
  return Math.max(whileCallersWait, Math.min(lease, usableUntil(replacing.value, refresh) - now))
}

/** Creates the scope in which acquisitions run. Closing it waits for a pending publication and release, for `cacheTimeout` at most. */
const makeScope = ({ cacheTimeout }: Sharing.SharingSettings) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make(ExecutionStrategy.parallel)
    yield* onClose(Effect.ignore(withTimeout(Scope.close(scope, Exit.void), cacheTimeout, constVoid)))

    /** The fiber succeeds with the exit, because Effect logs the error of a failed fiber, and here the caller of `run` gets it. */
    const fork = <A>(effect: Effect.Effect<A, TokenError>) =>
      Effect.forkIn(Effect.interruptible(Effect.exit(effect)), scope)

    /** Runs an effect in its own fiber. If the caller is interrupted, the fiber still runs its uninterruptible part. */
    const run = <A>(effect: Effect.Effect<A, TokenError>): Effect.Effect<A, TokenError> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          fork(effect),
          (fiber) => Effect.onInterrupt(restore(Fiber.await(fiber)), () => Fiber.interruptFork(fiber))
        )
      ).pipe(
        // Only closing the scope interrupts the fiber while its caller waits.
        Effect.flatMap((exit) => Exit.isInterrupted(exit) ? closedError("token") : Effect.flatten(exit))
      )

    return { scope, run }
  })

/**
 * Creates an issuer. Its `issue` needs no timeout, because each step has one: it waits for other replicas until `lease` + `tokenTimeout`
 * have passed, and then makes at most three calls to the cache and one exchange.
 */
export const make = (
  issuer: Issuer,
  settings: Sharing.SharingSettings
): Effect.Effect<Issuer, never, SharedTokenCache | Scope.Scope> =>
  Effect.gen(function*() {
    const cache = yield* SharedTokenCache
    const { run, scope } = yield* makeScope(settings)
    const withTokenTimeout = withTimeoutRepeatingIfSuspended(settings.tokenTimeout)
    sharedTokens.createSeries()
    cacheFailures.createSeries()

    const issue: Issuer["issue"] = (request) =>
      Effect.gen(function*() {
        const startedAt = yield* currentMonotonicMillis
        const licenseKey = yield* withTokenTimeout(readLicenseKey(settings.licenseKey))
        const seal = yield* withTokenTimeout(Seal.make(licenseKey, Settings.tokenIdentityOf(settings)))
        return yield* run(acquireToken({
          entry: LeasedEntry.make(cache, settings, scope, seal),
          limits: {
            waitsUntil: startedAt + settings.lease + settings.tokenTimeout,
            maxCacheOutage: maxCacheOutageOf(settings, request, yield* Clock.currentTimeMillis)
          },
          policy: settings.refresh,
          mayReplace: mayReplace(request.replacing),
          exchange: Effect.provideService(withTokenTimeout(issuer.issue(request)), LicenseKey, licenseKey)
        }))
      })

    return { issue }
  })
