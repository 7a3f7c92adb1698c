import type * as Fiber from "effect/Fiber"
import type * as Tracer from "effect/Tracer"

/** One data request from its beginning to its end, which ends all that was begun in it. */
export interface Region {
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
  readonly span: Tracer.Span | undefined
  /** Given up at the end, where it has not landed by itself: so it needs no finalizer of its own. */
  underWay: { readonly giveUp: () => void } | undefined
}
