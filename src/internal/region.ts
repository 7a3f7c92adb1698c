import type * as Clock from "effect/Clock"
import type * as Tracer from "effect/Tracer"

/**
 * One data request from its beginning to its end, which ends all that was begun in it. It does not refer to its fiber: V8 may
 * come to allocate objects like this one in the old generation, where even dead they keep alive what they refer to
 * (docs/upstream.md).
 */
export interface Region {
  readonly clock: Clock.Clock
  /** When it began, in milliseconds of the clock. */
  readonly start: number
  readonly span: Tracer.Span | undefined
  /** Given up at the end, where it has not landed by itself: so it needs no finalizer of its own. */
  underWay: { readonly giveUp: () => void } | undefined
}
