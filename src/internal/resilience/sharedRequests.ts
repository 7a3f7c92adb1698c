import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { launchIn } from "../fork.js"

interface Shared<A, E> {
  waiting: number
  readonly outcome: Deferred.Deferred<A, E>
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  span: Tracer.AnySpan | undefined
}

/** One request under way for all who ask for the same. */
export interface SharedRequests<V, A, E> {
  /**
   * Waits for the request for this key, and begins it for the first one. Whoever is interrupted leaves; when all have left, the
   * request is interrupted. The end of the wait is given to `onEnd`, which can't be interrupted.
   */
  readonly join: <B>(
    key: string,
    request: Effect.Effect<V, E>,
    onEnd: (exit: Exit.Exit<A, E>, isFirst: boolean) => Effect.Effect<B, E>
  ) => Effect.Effect<B, E>
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
    const launch = yield* Effect.flatMap(Effect.scope, launchIn)
    const inFlight = new Map<string, Shared<A, E>>()

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
      return Effect.map(
        launch(Effect.interruptible(left === undefined ? sent : Effect.zipRight(Fiber.await(left), sent))),
        (fiber) => {
          shared.fiber = fiber
          fiber.addObserver((exit) => end(key, shared, exit))
          return shared
        }
      )
    }

    const leave = (shared: Shared<A, E>) =>
      Effect.suspend(() => {
        shared.waiting -= 1
        return shared.waiting > 0 || shared.fiber === undefined ? Effect.void : Fiber.interrupt(shared.fiber)
      })

    const link = ({ span }: Shared<A, E>) => span === undefined ? Effect.void : Effect.linkSpanCurrent(span)

    const join: SharedRequests<V, A, E>["join"] = (key, request, onEnd) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const known = inFlight.get(key)
          const isFirst = known === undefined || known.waiting === 0
          if (!isFirst) known.waiting += 1
          return Effect.flatMap(isFirst ? begin(key, request) : Effect.succeed(known), (shared) =>
            restore(Deferred.await(shared.outcome)).pipe(
              Effect.onInterrupt(() => leave(shared)),
              Effect.ensuring(Effect.suspend(() =>
                link(shared)
              )),
              Effect.exit,
              Effect.flatMap((exit) => onEnd(exit, isFirst))
            ))
        })
      )

    return { join }
  })
