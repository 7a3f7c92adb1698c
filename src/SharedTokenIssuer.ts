/**
 * A TokenIssuer around a TokenIssuer: replicas share one token through a SharedTokenCache, and one of them exchanges.
 *
 * @since 1.0.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AccessToken from "./AccessToken.js"
import * as Configuration from "./internal/configuration.js"
import { HandedOver, InVain } from "./internal/handedOver.js"
import * as LicenseKey from "./internal/licenseKey.js"
import * as Pause from "./internal/pause.js"
import * as Seal from "./internal/seal.js"
import * as Telemetry from "./internal/telemetry.js"
import { ConfigurationError, type TokenError, TransportError } from "./NutritionAdvisorError.js"
import * as RefreshPolicy from "./RefreshPolicy.js"
import { SharedTokenCache, SharedTokenCacheError } from "./SharedTokenCache.js"
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
   * How long one replica may exchange while the others wait, and what a replica that dies meanwhile costs them; longer than
   * `tokenTimeout`. 15 seconds by default.
   */
  readonly lease?: Duration.DurationInput | undefined
  /** The time of one call of the cache, after which the replica goes on without it; 1 second by default. */
  readonly cacheTimeout?: Duration.DurationInput | undefined
}

/** What was found under the entry's name: the entry as it was written, and its token if it is one to use. */
interface Found {
  readonly entry: Option.Option<string>
  readonly token: Option.Option<HandedOver>
}

type Turn =
  | { readonly _tag: "HandedOver"; readonly token: HandedOver }
  /** This replica exchanges for all, and writes over the entry it has seen under its lease. */
  | { readonly _tag: "Leased"; readonly entry: Option.Option<string> }
  /** This replica exchanges for itself: the cache failed, or two peers held the lease and brought no token. */
  | { readonly _tag: "Alone"; readonly isCacheWell: boolean }

/** Whether the lease is this replica's own: "unsure" where the cache failed when it was asked for it. */
type Claim = "none" | "held" | "unsure"

/** How often those who wait look again where no change is heard of, in milliseconds. */
const pollInterval = 250

/** Holders of the lease that may end without a token, before a replica that waits exchanges by itself. */
const holdersAwaited = 2

const warningInterval = 60_000

const handedOver = (token: HandedOver): Turn => ({ _tag: "HandedOver", token })

const alone = (isCacheWell: boolean): Turn => ({ _tag: "Alone", isCacheWell })

const nothing = (entry: Option.Option<string>): Found => ({ entry, token: Option.none() })

/** Not the one that is replaced, nor an older one; where several of the cache's were rejected, one received from now on. */
const isNextAfter =
  (replacing: Option.Option<AccessToken.AccessToken>, asked: number): Predicate.Predicate<AccessToken.AccessToken> =>
  (token) =>
    Option.match(replacing, {
      onNone: () => true,
      onSome: (replaced) =>
        !AccessToken.isSame(replaced, token) &&
        token.receivedAt >= (replaced instanceof InVain ? asked : replaced.receivedAt)
    })

/** A cache that breaks its promises is as good as one that is gone. */
const withoutDefects = (cause: Cause.Cause<SharedTokenCacheError>): Cause.Cause<SharedTokenCacheError> =>
  Cause.fail(Option.getOrElse(Cause.failureOption(cause), () => new SharedTokenCacheError({ reason: "Defect" })))

/** A token as the clock of this process sees it: a peer whose clock is ahead dates the token's whole life too late. */
const received = (token: AccessToken.AccessToken, now: number): HandedOver => {
  const ahead = Math.max(0, token.receivedAt - now)
  return new HandedOver({ ...token, receivedAt: token.receivedAt - ahead, expiresAt: token.expiresAt - ahead })
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
    yield* Configuration.server()
    const timing = yield* RefreshPolicy.make(options.refresh)
    const base = yield* Configuration.baseUrl(options.baseUrl, options.allowInsecureHttp)
    const route = yield* Configuration.tokenRoute(options.tokenRoute)
    const licenseKey = yield* LicenseKey.check(options.licenseKey)
    yield* Configuration.serviceId(options.serviceId)
    const tokenTimeout = yield* Configuration.timeout("tokenTimeout", options.tokenTimeout ?? "10 seconds")
    const cacheTimeout = yield* Configuration.timeout("cacheTimeout", options.cacheTimeout ?? "1 second")
    const lease = yield* Configuration.timeout("lease", options.lease ?? "15 seconds")
    if (Duration.lessThanOrEqualTo(lease, tokenTimeout)) return yield* new ConfigurationError({ field: "lease" })
    const leaseMillis = Duration.toMillis(lease)
    const issuer = yield* TokenIssuer.TokenIssuer
    const cache = yield* SharedTokenCache
    const scope = yield* Scope.Scope

    const seals = yield* Ref.make(Option.none<readonly [Redacted.Redacted<string>, Seal.Seal]>())
    const refused = yield* Ref.make(Option.none<AccessToken.AccessToken>())
    const warned = yield* Ref.make<Pause.Pause | undefined>(undefined)

    const sealOf = (key: Redacted.Redacted<string>) =>
      Effect.gen(function*() {
        const known = Option.filter(yield* Ref.get(seals), ([sealedWith]) => Equal.equals(sealedWith, key))
        if (Option.isSome(known)) return known.value[1]
        const seal = yield* Seal.make(key, [base.href, route, options.serviceId ?? ""])
        yield* Ref.set(seals, Option.some([key, seal]))
        return seal
      })

    const note = ({ message, reason }: SharedTokenCacheError) =>
      Effect.gen(function*() {
        const clock = yield* Effect.clock
        yield* Telemetry.cacheFailed(reason)
        const isFirst = yield* Ref.modify(
          warned,
          (pause) => Pause.stands(pause, clock) ? [false, pause] : [true, Pause.start(clock, warningInterval)]
        )
        if (isFirst) {
          yield* Effect.logWarning(`${message} Until it works again, this process exchanges the license key by itself.`)
        }
      })

    /** Its time is bounded also where this fiber can't be interrupted: the operation runs in a fiber of its own. */
    const call = <A>(
      operation: () => Effect.Effect<A, SharedTokenCacheError>
    ): Effect.Effect<A, SharedTokenCacheError> =>
      Effect.suspend(operation).pipe(
        Effect.mapErrorCause(withoutDefects),
        Effect.disconnect,
        Effect.interruptible,
        Effect.timeoutFail({
          duration: cacheTimeout,
          onTimeout: () => new SharedTokenCacheError({ reason: "Timeout" })
        })
      )

    const read = (seal: Seal.Seal) =>
      Effect.gen(function*() {
        const entry = yield* call(() => cache.read(seal.name))
        const token = Option.isSome(entry) ? yield* seal.open(entry.value) : Option.none()
        return { entry, token }
      })

    const isRefused = (token: AccessToken.AccessToken) =>
      Effect.map(Ref.get(refused), Option.exists((other) => AccessToken.isSame(other, token)))

    /** What the cache holds for one who asks. A token that was rejected here is taken out on the way. */
    const look = (seal: Seal.Seal, isNext: Predicate.Predicate<AccessToken.AccessToken>) =>
      Effect.gen(function*() {
        const { entry, token } = yield* read(seal)
        if (Option.isNone(entry) || Option.isNone(token)) return nothing(entry)
        if (yield* isRefused(token.value)) {
          const isRemoved = yield* call(() => cache.remove(seal.name, entry.value))
          return nothing(isRemoved ? Option.none() : entry)
        }
        const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
        const seen = received(token.value, now)
        return isNext(token.value) && AccessToken.stateAt(seen, now, timing) !== "expired"
          ? { entry, token: Option.some(seen) }
          : nothing(entry)
      })

    const takeTurn = (
      seal: Seal.Seal,
      owner: string,
      claim: Ref.Ref<Claim>,
      isNext: Predicate.Predicate<AccessToken.AccessToken>
    ): Effect.Effect<Turn, SharedTokenCacheError> =>
      Effect.scoped(Effect.gen(function*() {
        const clock = yield* Effect.clock
        const bell = yield* Effect.makeLatch()
        const listen = Stream.suspend(() => cache.changes(seal.name)).pipe(
          Stream.runForEach(() => bell.open),
          Effect.mapErrorCause(withoutDefects),
          Effect.catchAll(({ reason }) => Telemetry.cacheFailed(reason)),
          Effect.disconnect
        )
        const patience = Pause.start(clock, leaseMillis * holdersAwaited)
        const holders = new Set<string>()
        while (true) {
          yield* bell.close
          const found = yield* look(seal, isNext)
          if (Option.isSome(found.token)) return handedOver(found.token.value)
          yield* Ref.set(claim, "unsure")
          const held = yield* call(() => cache.lease(seal.name, owner, leaseMillis))
          yield* Ref.set(claim, held.owner === owner ? "held" : "none")
          if (held.owner === owner) {
            const again = yield* look(seal, isNext)
            return Option.isSome(again.token)
              ? handedOver(again.token.value)
              : { _tag: "Leased", entry: again.entry }
          }
          if (holders.size === 0) yield* Effect.forkScoped(listen)
          holders.add(held.owner)
          const left = Pause.remaining(patience, clock)
          if (holders.size > holdersAwaited || left === 0) return alone(true)
          yield* Effect.timeoutOption(
            bell.await,
            Math.max(1, Math.ceil(Math.min(left, held.remaining, pollInterval)))
          )
        }
      }))

    const write = (seal: Seal.Seal, token: AccessToken.AccessToken, over: Option.Option<string>) =>
      Effect.gen(function*() {
        const entry = yield* Effect.option(seal.close(token))
        if (Option.isNone(entry)) return
        const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
        const timeToLive = Math.max(1, Math.ceil(token.expiresAt - now))
        yield* call(() => cache.write(seal.name, entry.value, { over, timeToLive }))
      })

    /** One who exchanged alone has seen nothing under a lease: a token that a peer received meanwhile stays. */
    const writeUnlessNewer = (seal: Seal.Seal, token: AccessToken.AccessToken) =>
      Effect.gen(function*() {
        const { entry, token: other } = yield* read(seal)
        const isNewer = Option.exists(other, ({ receivedAt }) => receivedAt >= token.receivedAt)
        if (!isNewer) yield* write(seal, token, entry)
      })

    const publish = (seal: Seal.Seal, token: AccessToken.AccessToken, turn: Exclude<Turn, { _tag: "HandedOver" }>) =>
      Effect.gen(function*() {
        if (yield* isRefused(token)) return
        yield* turn._tag === "Leased" ? write(seal, token, turn.entry) : writeUnlessNewer(seal, token)
      })

    const inBackground = (effect: Effect.Effect<void>) => Effect.forkIn(Effect.interruptible(effect), scope)

    const release = (seal: Seal.Seal, owner: string, claim: Ref.Ref<Claim>) =>
      Effect.flatMap(Ref.get(claim), (claim) => {
        const released = Effect.catchAll(Effect.asVoid(call(() => cache.release(seal.name, owner))), note)
        return claim === "none" ? Effect.void : claim === "held" ? released : inBackground(released)
      })

    const share = (seal: Seal.Seal, replacing: Option.Option<AccessToken.AccessToken>, reason?: TokenIssuer.Reason) =>
      Effect.gen(function*() {
        const asked = (yield* Effect.clock).unsafeCurrentTimeMillis()
        const isNext = isNextAfter(replacing, asked)
        const owner = yield* Effect.sync(() => globalThis.crypto.randomUUID())
        const claim = yield* Ref.make<Claim>("none")

        const lookOnceMore = (error: TokenError) =>
          look(seal, isNext).pipe(
            Effect.catchAll((failure) => Effect.as(note(failure), nothing(Option.none()))),
            Effect.flatMap(({ token }) => Effect.mapError(token, () => error))
          )

        const exchange = (
          turn: Exclude<Turn, { _tag: "HandedOver" }>,
          restore: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
        ) =>
          restore(issuer.issue(replacing, reason)).pipe(
            Effect.tap(Telemetry.shares(turn._tag === "Leased" ? "Exchanged" : "ExchangedAlone")),
            Effect.tap((token) => {
              const published = Effect.catchAll(
                publish(seal, token, turn),
                (failure) => Effect.zipRight(Ref.set(claim, "unsure"), note(failure))
              )
              return turn._tag === "Alone" && !turn.isCacheWell ? inBackground(published) : published
            }),
            Effect.catchAll((error) => restore(lookOnceMore(error)))
          )

        return yield* Effect.uninterruptibleMask((restore) =>
          restore(takeTurn(seal, owner, claim, isNext)).pipe(
            Effect.catchAll((failure) => Effect.as(note(failure), alone(false))),
            Effect.flatMap((turn) => turn._tag === "HandedOver" ? Effect.succeed(turn.token) : exchange(turn, restore)),
            Effect.tap((token) => token instanceof HandedOver ? Telemetry.shares("HandedOver") : Effect.void),
            Effect.ensuring(release(seal, owner, claim))
          )
        )
      })

    const issue: TokenIssuer.Service["issue"] = (replacing, reason) =>
      Effect.gen(function*() {
        const key = yield* Effect.timeoutFail(LicenseKey.read(licenseKey), {
          duration: tokenTimeout,
          onTimeout: () => new TransportError({ operation: "token", reason: "Timeout" })
        })
        const seal = yield* sealOf(key)
        if (reason === "rejection") yield* Ref.set(refused, replacing)
        return yield* share(seal, replacing, reason)
      })

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
