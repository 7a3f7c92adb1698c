import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AccessToken from "../../AccessToken.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Lease, Service, SharedTokenCacheError } from "../../SharedTokenCache.js"
import { momentOf } from "../clock.js"
import * as Fork from "../fork.js"
import * as Metrics from "../metrics.js"
import * as Pause from "../pause.js"
import type * as Seal from "./seal.js"

/** What one replica needs to know and to remember for one exchange. */
export interface Attempt {
  readonly cache: Service
  readonly seal: Seal.Seal
  /** Who takes the lease: another name for each attempt. */
  readonly owner: string
  readonly leaseMillis: number
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly isNext: Predicate.Predicate<AccessToken.AccessToken>
  /** Whether the service rejected this token here. */
  readonly isRefused: (token: AccessToken.AccessToken) => Effect.Effect<boolean>
  /** Whether the lease may be this replica's own: also where the cache failed when it was asked. */
  readonly mayHold: Ref.Ref<boolean>
}

/** What was found under the entry's name: the entry as it was written, and its token if it is one to use. */
interface Found {
  readonly entry: Option.Option<string>
  readonly token: Option.Option<AccessToken.AccessToken>
}

/** How a replica gets to exchange by itself. */
export type OwnTurn =
  /** It exchanges for all, and writes over the entry that it has seen under its lease. */
  | { readonly _tag: "Leased"; readonly entry: Option.Option<string> }
  /** It exchanges for itself: the cache failed, or two peers held the lease and brought no token. */
  | { readonly _tag: "Alone" }

export type Turn = OwnTurn | { readonly _tag: "HandedOver"; readonly token: AccessToken.AccessToken }

/** How often those who wait look again where no change is heard of, in milliseconds. */
const pollInterval = 250

/** The time between two looks, however often a change is heard of and whatever the cache says of the lease, in milliseconds. */
const leastInterval = 25

/** Holders of the lease that may end without a token, before a replica that waits exchanges by itself. */
const holdersAwaited = 2

/** How long a replica waits for its peers in all, in milliseconds. */
export const patienceOf = (leaseMillis: number): number => leaseMillis * holdersAwaited

const handedOver = (token: AccessToken.AccessToken): Turn => ({ _tag: "HandedOver", token })

export const alone: OwnTurn = { _tag: "Alone" }

const nothing = (entry: Option.Option<string>): Found => ({ entry, token: Option.none() })

/** Not the token that is replaced, nor one that was received before `since`. */
export const isNextAfter =
  (replacing: Option.Option<AccessToken.AccessToken>, since: number): Predicate.Predicate<AccessToken.AccessToken> =>
  (token) =>
    Option.match(replacing, {
      onNone: () => true,
      onSome: (replaced) =>
        !AccessToken.isSame(replaced, token) && token.receivedAt >= Math.max(since, replaced.receivedAt)
    })

/** A token as the clock of this process sees it: a peer whose clock is ahead dates the token's whole life too late. */
const received = (token: AccessToken.AccessToken, now: number): AccessToken.AccessToken => {
  const ahead = Math.max(0, token.receivedAt - now)
  return new AccessToken.AccessToken({
    ...token,
    receivedAt: token.receivedAt - ahead,
    expiresAt: token.expiresAt - ahead,
    origin: "cache"
  })
}

const read = ({ cache, seal }: Attempt): Effect.Effect<Found, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const entry = yield* cache.read(seal.name)
    return { entry, token: Option.isSome(entry) ? yield* seal.open(entry.value) : Option.none() }
  })

/** What the cache holds for one who asks. A token that was rejected here is taken out on the way. */
export const look = (attempt: Attempt): Effect.Effect<Found, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const { cache, isNext, isRefused, seal, policy } = attempt
    const { entry, token } = yield* read(attempt)
    if (Option.isNone(entry) || Option.isNone(token)) return nothing(entry)
    if (yield* isRefused(token.value)) {
      const isRemoved = yield* cache.remove(seal.name, entry.value)
      return nothing(isRemoved ? Option.none() : entry)
    }
    const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
    const seen = received(token.value, now)
    return isNext(token.value) && AccessToken.stateAt(seen, now, policy) !== "expired"
      ? { entry, token: Option.some(seen) }
      : nothing(entry)
  })

/** Waits for the answer also where it is interrupted: a lease is given back only after it was taken. */
const takeLease = (
  { cache, leaseMillis, mayHold, owner, seal }: Attempt
): Effect.Effect<Lease, SharedTokenCacheError> =>
  Ref.set(mayHold, true).pipe(
    Effect.zipRight(cache.lease(seal.name, owner, leaseMillis)),
    Effect.tap((lease) => Ref.set(mayHold, lease.owner === owner)),
    Effect.uninterruptible
  )

type Asked = Turn | { readonly _tag: "HeldByPeer"; readonly lease: Lease }

/** Looks, asks for the lease, and where it is granted looks again: a peer may have written meanwhile. */
const ask = (attempt: Attempt): Effect.Effect<Asked, SharedTokenCacheError> =>
  Effect.gen(function*() {
    const found = yield* look(attempt)
    if (Option.isSome(found.token)) return handedOver(found.token.value)
    const lease = yield* takeLease(attempt)
    if (lease.owner !== attempt.owner) return { _tag: "HeldByPeer", lease }
    const { entry, token } = yield* look(attempt)
    return Option.isSome(token) ? handedOver(token.value) : { _tag: "Leased", entry }
  })

/** Milliseconds until the next look; none where the peers are not waited for any longer. */
const untilNextLook = (holders: number, patience: Pause.Pause, { remaining }: Lease, clock: Clock.Clock) => {
  const left = Pause.remaining(patience, momentOf(clock))
  return holders > holdersAwaited || left === 0
    ? Option.none()
    : Option.some(Math.max(leastInterval, Math.ceil(Math.min(left, remaining, pollInterval))))
}

/** Opens the latch at each change. A watch that fails is counted: those who wait look by themselves. */
const listen = ({ cache, seal }: Attempt, change: Effect.Latch): Effect.Effect<void, never, Scope.Scope> =>
  cache.changes(seal.name).pipe(
    Stream.runForEach(() => change.open),
    Effect.catchAll(({ reason }) => Metrics.cacheFailures.count({ reason })),
    Fork.abandonable,
    Effect.forkScoped
  )

const sleepUntilChange = (change: Effect.Latch, millis: number) =>
  Effect.zipRight(Effect.sleep(leastInterval), Effect.timeoutOption(change.await, millis - leastInterval))

/** A peer's token, or the turn to exchange: under the lease, or without it after waiting in vain. */
export const takeTurn = (attempt: Attempt): Effect.Effect<Turn, SharedTokenCacheError> =>
  Effect.scoped(Effect.gen(function*() {
    const clock = yield* Effect.clock
    const change = yield* Effect.makeLatch()
    const holders = new Set<string>()
    const patience = Pause.start(momentOf(clock), patienceOf(attempt.leaseMillis))
    while (true) {
      yield* change.close
      const asked = yield* ask(attempt)
      if (asked._tag !== "HeldByPeer") return asked
      if (holders.size === 0) yield* listen(attempt, change)
      holders.add(asked.lease.owner)
      const millis = untilNextLook(holders.size, patience, asked.lease, clock)
      if (Option.isNone(millis)) return alone
      yield* sleepUntilChange(change, millis.value)
    }
  }))

const write = (attempt: Attempt, token: AccessToken.AccessToken, over: Option.Option<string>) =>
  Effect.gen(function*() {
    const { cache, seal } = attempt
    const entry = yield* seal.close(token)
    if (Option.isNone(entry)) return
    const now = (yield* Effect.clock).unsafeCurrentTimeMillis()
    const timeToLive = Math.max(1, Math.ceil(Math.min(token.expiresAt - now, RefreshPolicy.longestLife)))
    yield* cache.write(seal.name, entry.value, { over, timeToLive })
  })

/** One who exchanged alone has seen nothing under a lease: a token that a peer received meanwhile stays. */
const writeUnlessNewer = (attempt: Attempt, token: AccessToken.AccessToken) =>
  Effect.gen(function*() {
    const { entry, token: other } = yield* read(attempt)
    const isNewer = Option.exists(other, ({ receivedAt }) => receivedAt >= token.receivedAt)
    if (!isNewer) yield* write(attempt, token, entry)
  })

/** Leaves the token to the peers, unless it is the one that was rejected here. */
export const publish = (
  attempt: Attempt,
  token: AccessToken.AccessToken,
  turn: OwnTurn
): Effect.Effect<void, SharedTokenCacheError> =>
  Effect.flatMap(attempt.isRefused(token), (isRefused) =>
    isRefused
      ? Effect.void
      : turn._tag === "Leased"
      ? write(attempt, token, turn.entry)
      : writeUnlessNewer(attempt, token))
