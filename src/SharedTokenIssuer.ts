/**
 * A TokenIssuer around a TokenIssuer: replicas share one token through a SharedTokenCache, and one of them exchanges.
 *
 * @since 1.0.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as AccessToken from "./AccessToken.js"
import { boundedBy, issued, OwnDeadline, timedOut } from "./internal/exchange/issue.js"
import * as LicenseKey from "./internal/exchange/licenseKey.js"
import * as Fork from "./internal/fork.js"
import * as Metrics from "./internal/metrics.js"
import * as Settings from "./internal/settings.js"
import * as BoundedCache from "./internal/shared/boundedCache.js"
import * as CacheLog from "./internal/shared/cacheLog.js"
import * as Lease from "./internal/shared/lease.js"
import * as Seal from "./internal/shared/seal.js"
import type { ConfigurationError } from "./NutritionAdvisorError.js"
import { type TokenError, TransportError } from "./NutritionAdvisorError.js"
import { type Service, SharedTokenCache, type SharedTokenCacheError } from "./SharedTokenCache.js"
import * as TokenIssuer from "./TokenIssuer.js"

/**
 * The settings of the TokenIssuer, and two for the sharing. Replicas share a token where base URL, token route, license key and
 * service id are the same.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options extends TokenIssuer.Options {
  /**
   * How long one replica may exchange while the others wait, and how long they wait if it dies meanwhile; longer than
   * `tokenTimeout`. 15 seconds by default. A number is milliseconds.
   */
  readonly lease?: Duration.DurationInput | undefined
  /** The time for one call of the cache; after it the replica goes on without the cache. 1 second by default. A number is milliseconds. */
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

/** What all exchanges of one issuer have in common. */
interface Sharing {
  readonly settings: Settings.SharingSettings
  readonly cache: Service
  readonly log: CacheLog.CacheLog
  /** The time for the issuer inside, in milliseconds. */
  readonly longestExchange: number
  /** Requests for whose end somebody waits: not those that go on with a cache that has failed. */
  readonly unanswered: Set<Fiber.RuntimeFiber<void>>
  /** The token that the service rejected last. */
  readonly refused: Ref.Ref<Option.Option<AccessToken.AccessToken>>
}

/** One exchange that was asked for. */
interface Request extends Lease.Attempt {
  readonly sharing: Sharing
  /** The exchange of the issuer inside. */
  readonly exchange: Effect.Effect<AccessToken.AccessToken, TokenError>
  /** Whether each call of the cache has worked so far. */
  readonly isCacheWell: Ref.Ref<boolean>
  readonly answer: Deferred.Deferred<AccessToken.AccessToken, TokenError>
}

const aborted = Exit.fail(new TransportError({ operation: "token", reason: "Aborted" }))

const identityOf = ({ base, route, serviceId }: Settings.ExchangeSettings): ReadonlyArray<string> => [
  base.href,
  route,
  Option.match(serviceId, { onNone: () => "", onSome: Redacted.value })
]

/** The seal of a key; that of the last one is kept, for making it takes milliseconds. */
const makeSeals = (identity: ReadonlyArray<string>) =>
  Effect.map(
    Ref.make(Option.none<readonly [Redacted.Redacted<string>, Seal.Seal]>()),
    (last) => (key: Redacted.Redacted<string>) =>
      Effect.gen(function*() {
        const known = Option.filter(yield* Ref.get(last), ([sealedWith]) => Equal.equals(sealedWith, key))
        if (Option.isSome(known)) return known.value[1]
        const seal = yield* Seal.make(key, identity)
        yield* Ref.set(last, Option.some([key, seal]))
        return seal
      })
  )

const noteFailure = ({ isCacheWell, sharing }: Request, error: SharedTokenCacheError) =>
  Effect.zipRight(Ref.set(isCacheWell, false), sharing.log.failed(error))

const noteEnd = ({ isCacheWell, sharing }: Request) => Effect.whenEffect(sharing.log.worked, Ref.get(isCacheWell))

/** A caller does not wait for what is left to do in a cache that has failed: it has its answer now. */
const answerUnlessWell = (request: Request, exit: Exit.Exit<AccessToken.AccessToken, TokenError>) =>
  Effect.unlessEffect(Deferred.done(request.answer, exit), Ref.get(request.isCacheWell))

const release = (request: Request) =>
  request.cache.release(request.seal.name, request.owner).pipe(
    Effect.catchAll((error) => noteFailure(request, error)),
    Effect.whenEffect(Ref.get(request.mayHold))
  )

/** Peers must see the token before the lease is free; but a lease does not wait for a cache that has failed. */
const publish = (request: Request, token: AccessToken.AccessToken, turn: Lease.OwnTurn) => {
  const published = Effect.catchAll(Lease.publish(request, token, turn), (error) => noteFailure(request, error))
  return Effect.flatMap(
    Ref.get(request.isCacheWell),
    (isWell) => isWell ? Effect.asVoid(published) : Effect.zipRight(Effect.forkDaemon(published), Effect.yieldNow())
  )
}

/** An exchange that failed ends in its own error, unless a peer fared better meanwhile. */
const lookOnceMore = (request: Request, error: TokenError) =>
  Lease.look(request).pipe(
    Effect.map(({ token }) => token),
    Effect.catchAll((failure) => Effect.as(noteFailure(request, failure), Option.none<AccessToken.AccessToken>())),
    Effect.flatMap(Option.match({ onNone: () => Effect.fail(error), onSome: Effect.succeed })),
    Effect.tap(Metrics.sharedTokens.count({ outcome: "HandedOver" }))
  )

/** So often other fibers go on before an exchange is interrupted: an answer that has come becomes a token, and no clock is needed. */
const lastTurns = 1_000

const untilEnded = (fiber: Fiber.RuntimeFiber<unknown, unknown>) =>
  Effect.repeat(Effect.yieldNow(), { times: lastTurns, until: () => fiber.unsafePoll() !== null })

/**
 * The exchange of the issuer inside: at most `tokenTimeout`, or as long as peers wait for it where it has a deadline of its own.
 * Where it is interrupted and has a token by then, it ends well.
 */
const exchange = ({ exchange, sharing: { longestExchange, settings } }: Request) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDaemon(exchange)
    const waited = yield* Fiber.await(fiber).pipe(
      Fork.boundedBy(longestExchange, timedOut),
      Effect.interruptible,
      Effect.exit
    )
    const left = Effect.onInterrupt(untilEnded(fiber), () => Fiber.interruptFork(fiber))
    const interrupted = Effect.zipRight(left, Fiber.interrupt(fiber))
    const ended = yield* Effect.option(Fork.boundedBy(settings.cacheTimeout, timedOut)(interrupted))
    if (Option.isSome(ended) && Exit.isSuccess(ended.value)) return ended.value.value
    return yield* Exit.isSuccess(waited) ? waited.value : Exit.failCause(waited.cause)
  })

/**
 * A token that a peer left or one's own, whichever turn it is. Uninterruptible but for its waits: what was bought is published,
 * and a lease given back, at every end.
 */
const share = (request: Request): Effect.Effect<void> =>
  Effect.interruptible(Lease.takeTurn(request)).pipe(
    Effect.catchAll((error) => Effect.as(noteFailure(request, error), Lease.alone)),
    Effect.flatMap((turn) =>
      turn._tag === "HandedOver"
        ? Effect.as(Metrics.sharedTokens.count({ outcome: "HandedOver" }), turn.token)
        : exchange(request).pipe(
          Effect.tap(Metrics.sharedTokens.count({ outcome: turn._tag === "Leased" ? "Exchanged" : "ExchangedAlone" })),
          Effect.tap((token) => answerUnlessWell(request, Exit.succeed(token))),
          Effect.tap((token) => publish(request, token, turn)),
          Effect.catchAll((error) => Effect.interruptible(lookOnceMore(request, error)))
        )
    ),
    Effect.onExit((exit) => answerUnlessWell(request, exit)),
    Effect.ensuring(release(request)),
    Effect.tapBoth({ onFailure: () => noteEnd(request), onSuccess: () => noteEnd(request) }),
    Effect.exit,
    Effect.flatMap((exit) => Deferred.done(request.answer, Exit.isInterrupted(exit) ? aborted : exit)),
    Effect.uninterruptible
  )

/** Interrupts requests, and waits for what they publish and give back, at most for the time of one call of the cache. */
const end = (fibers: Iterable<Fiber.Fiber<void>>, { cacheTimeout }: Settings.SharingSettings) =>
  Effect.ignore(Fork.boundedBy(cacheTimeout, timedOut)(Fiber.interruptAll(fibers)))

/** The answer to a request, which runs in a fiber of its own: where the caller leaves, it goes on as far as it must. */
const answerTo = (request: Request) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { settings, unanswered } = request.sharing
      const fiber = yield* Effect.forkDaemon(share(request))
      unanswered.add(fiber)
      return yield* restore(Deferred.await(request.answer)).pipe(
        Effect.onInterrupt(() => end([fiber], settings)),
        Effect.ensuring(Effect.sync(() => unanswered.delete(fiber)))
      )
    })
  )

const makeRequest = (
  sharing: Sharing,
  seal: Seal.Seal,
  { mustExchange, replacing }: TokenIssuer.ExchangeRequest,
  exchange: Effect.Effect<AccessToken.AccessToken, TokenError>
): Effect.Effect<Request> =>
  Effect.gen(function*() {
    const since = mustExchange ? (yield* Effect.clock).unsafeCurrentTimeMillis() : Number.NEGATIVE_INFINITY
    return {
      sharing,
      cache: sharing.cache,
      seal,
      owner: yield* Effect.sync(() => globalThis.crypto.randomUUID()),
      leaseMillis: Duration.toMillis(sharing.settings.lease),
      policy: sharing.settings.policy,
      isNext: Lease.isNextAfter(replacing, since),
      isRefused: (token) =>
        Effect.map(Ref.get(sharing.refused), Option.exists((other) => AccessToken.isSame(other, token))),
      mayHold: yield* Ref.make(false),
      exchange,
      isCacheWell: yield* Ref.make(true),
      answer: yield* Deferred.make<AccessToken.AccessToken, TokenError>()
    }
  })

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
> => Effect.flatMap(Settings.read(Settings.sharing, options), fromSettings)

/** @internal */
export const fromSettings = (
  settings: Settings.SharingSettings
): Effect.Effect<TokenIssuer.Service, never, TokenIssuer.TokenIssuer | SharedTokenCache | Scope.Scope> =>
  Effect.gen(function*() {
    const { licenseKey } = settings
    const tokenMillis = Duration.toMillis(settings.tokenTimeout)
    const issuer = yield* TokenIssuer.TokenIssuer
    const sealOf = yield* makeSeals(identityOf(settings))
    const sharing: Sharing = {
      settings,
      cache: BoundedCache.make(yield* SharedTokenCache, settings.cacheTimeout),
      log: yield* CacheLog.make,
      longestExchange: OwnDeadline.of(issuer) === undefined
        ? tokenMillis
        : Lease.patienceOf(Duration.toMillis(settings.lease)),
      unanswered: yield* Effect.acquireRelease(
        Effect.sync(() => new Set<Fiber.RuntimeFiber<void>>()),
        (fibers) => end(fibers, settings)
      ),
      refused: yield* Ref.make(Option.none<AccessToken.AccessToken>())
    }

    const issue: TokenIssuer.Service["issue"] = (asked) =>
      Effect.gen(function*() {
        const key = yield* boundedBy(tokenMillis)(LicenseKey.read(asked.licenseKey ?? licenseKey))
        const seal = yield* sealOf(key)
        if (asked.reason === "rejection") yield* Ref.set(sharing.refused, asked.replacing)
        const exchange = issued(() => Effect.interruptible(issuer.issue({ ...asked, licenseKey: key })))
        return yield* Effect.flatMap(makeRequest(sharing, seal, asked, exchange), answerTo)
      })

    return OwnDeadline.attach({ issue }, true)
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
