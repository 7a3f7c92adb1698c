import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"

interface Shared<A, E> {
  waiting: number
  readonly outcome: Deferred.Deferred<A, E>
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  span: Tracer.AnySpan | undefined
}

/** One request under way for all who ask for the same. */
export interface SharedRequests<V, A, E> {
  /**
   * Joins the request for this key, or begins it, and tells which. Whoever is interrupted leaves; when all have left, the request is
   * interrupted.
   */
  readonly join: (key: string, request: Effect.Effect<V, E>) => Joining<A, E>
}

export interface Joining<A, E> {
  readonly isFirst: boolean
  readonly outcome: Effect.Effect<A, E>
}

export interface Options<V, A, E> {
  /** Of the span that those who wait are linked to. */
  readonly spanName: string
  /** What a request ends in that was interrupted while somebody waited for it, as where its scope is closed. */
  readonly aborted: E
  /** Called once a request has succeeded; what it returns is handed to those who wait. */
  readonly onSuccess: (key: string, value: V, waiting: number) => A
}

/** Requests run in the scope and the context of who makes this, not in those of a caller. */
export const make = <V, A, E>(
  { aborted, onSuccess, spanName }: Options<V, A, E>
): Effect.Effect<SharedRequests<V, A, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Scope.Scope
    const runFork = Runtime.runFork(yield* Effect.runtime())
    const inFlight = new Map<string, Shared<A, E>>()
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
      })
    )

    const traced = (request: Effect.Effect<V, E>, shared: Shared<A, E>) =>
      Effect.useSpan(spanName, { root: true, captureStackTrace: false }, (span) => {
        shared.span = span
        return Effect.withParentSpan(request, span)
      })

    const end = (key: string, shared: Shared<A, E>, exit: Exit.Exit<V, E>) => {
      if (inFlight.get(key) === shared) inFlight.delete(key)
      const outcome = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
        ? Exit.fail(aborted)
        : Exit.map(exit, (value) => onSuccess(key, value, shared.waiting))
      Deferred.unsafeDone(shared.outcome, outcome)
    }

    /** One that was left by all may still be ending: the next one waits for that, so that there are never two. */
    const begin = (key: string, request: Effect.Effect<V, E>) => {
      const left = inFlight.get(key)?.fiber
      const shared: Shared<A, E> = {
        waiting: 1,
        outcome: Deferred.unsafeMake(FiberId.none),
        fiber: undefined,
        span: undefined
      }
      inFlight.set(key, shared)
      const sent = traced(request, shared)
      const fiber = runFork(
        Effect.interruptible(left === undefined ? sent : Effect.zipRight(Fiber.await(left), sent)),
        { scope }
      )
      shared.fiber = fiber
      fiber.addObserver((exit) => end(key, shared, exit))
      return shared
    }

    const leave = (shared: Shared<A, E>) =>
      Effect.suspend(() => {
        shared.waiting -= 1
        return shared.waiting > 0 || shared.fiber === undefined ? Effect.void : Fiber.interrupt(shared.fiber)
      })

    const link = ({ span }: Shared<A, E>) => span === undefined ? Effect.void : Effect.linkSpanCurrent(span)

    const join: SharedRequests<V, A, E>["join"] = (key, request) => {
      if (isClosed) return { isFirst: true, outcome: Effect.fail(aborted) }
      const known = inFlight.get(key)
      const isFirst = known === undefined || known.waiting === 0
      const shared = isFirst ? begin(key, request) : known
      if (!isFirst) shared.waiting += 1
      return {
        isFirst,
        outcome: Deferred.await(shared.outcome).pipe(
          Effect.onInterrupt(() => leave(shared)),
          Effect.ensuring(link(shared))
        )
      }
    }

    return { join }
  })
