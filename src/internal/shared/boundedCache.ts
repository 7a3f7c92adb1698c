import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Lease, type Service, SharedTokenCacheError } from "../../SharedTokenCache.js"
import { boundedBy } from "../fork.js"

const isEntry = Schema.is(Schema.OptionFromSelf(Schema.String))

const isLease = Schema.is(Schema.Struct({ owner: Schema.String, remaining: Schema.Number }))

const broken = () => new SharedTokenCacheError({ reason: "Defect" })

/** A cache that breaks its promises is as good as one that is gone. */
const withoutDefects = (cause: Cause.Cause<SharedTokenCacheError>): Cause.Cause<SharedTokenCacheError> =>
  Cause.fail(
    Option.getOrElse(
      Option.filter(Cause.failureOption(cause), (error) => error instanceof SharedTokenCacheError),
      broken
    )
  )

/** A lease without an end, or one of which the cache does not know the end, counts as one that was just taken. */
const withKnownEnd = ({ owner, remaining }: Lease, duration: number): Lease => ({
  owner,
  remaining: Number.isFinite(remaining) && remaining >= 0 ? remaining : duration
})

/** The cache with a bound on each call, and with nothing but what it promises: other answers and defects are failures. */
export const make = (cache: Service, timeout: Duration.Duration): Service => {
  const call = <A>(
    operation: () => Effect.Effect<A, SharedTokenCacheError>,
    isAnswer: Predicate.Predicate<A>
  ): Effect.Effect<A, SharedTokenCacheError> =>
    Effect.suspend(operation).pipe(
      Effect.filterOrFail(isAnswer, broken),
      Effect.mapErrorCause(withoutDefects),
      boundedBy(timeout, () => new SharedTokenCacheError({ reason: "Timeout" }))
    )

  return {
    read: (name) => call(() => cache.read(name), isEntry),
    write: (name, entry, options) => call(() => cache.write(name, entry, options), Predicate.isBoolean),
    remove: (name, entry) => call(() => cache.remove(name, entry), Predicate.isBoolean),
    lease: (name, owner, duration) =>
      Effect.map(call(() => cache.lease(name, owner, duration), isLease), (lease) => withKnownEnd(lease, duration)),
    release: (name, owner) => call(() => cache.release(name, owner), Predicate.isBoolean),
    changes: (name) => Stream.mapErrorCause(Stream.suspend(() => cache.changes(name)), withoutDefects)
  }
}
