import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { type NutritionAdvisorError, TransportError } from "../../NutritionAdvisorError.js"
import { launchIn } from "../fork.js"

interface Shared<A> {
  waiting: number
  readonly result: Deferred.Deferred<A, NutritionAdvisorError>
  fiber: Fiber.RuntimeFiber<unknown, unknown> | undefined
  span: Tracer.AnySpan | undefined
}

type Request = Effect.Effect<unknown, NutritionAdvisorError>

/**
 * Waits for the request for this key, and begins it for the first one. Whoever is interrupted leaves; when all have left, the request
 * is interrupted. The end of the wait is given to `onEnd`, which can't be interrupted.
 */
export type Join<A> = (
  key: string,
  request: Request,
  onEnd: (exit: Exit.Exit<A, NutritionAdvisorError>, isFirst: boolean) => Request
) => Request

/** What a request ends in that was interrupted while somebody waited for it, as where its scope is closed. */
const aborted = new TransportError({ operation: "search", reason: "Aborted" })

/**
 * One search under way for all who ask for the same. It runs in the scope and the context of who makes this, not in those of a
 * caller; what `onSuccess` makes of a payload is handed to those who wait.
 */
export const make = <A>(
  onSuccess: (key: string, payload: unknown, waiting: number) => A
): Effect.Effect<Join<A>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const launch = yield* Effect.flatMap(Effect.scope, launchIn)
    const inFlight = new Map<string, Shared<A>>()

    const traced = (request: Request, shared: Shared<A>) =>
      Effect.useSpan("SearchCache.request", { root: true, captureStackTrace: false }, (span) => {
        shared.span = span
        return Effect.withParentSpan(request, span)
      })

    const end = (key: string, shared: Shared<A>, exit: Exit.Exit<unknown, NutritionAdvisorError>) => {
      if (inFlight.get(key) === shared) inFlight.delete(key)
      const result = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
        ? Exit.fail(aborted)
        : Exit.map(exit, (value) => onSuccess(key, value, shared.waiting))
      Deferred.unsafeDone(shared.result, result)
    }

    /** One that was left by all may still be ending: the next one waits for that, so that there are never two. */
    const begin = (key: string, request: Request) => {
      const left = inFlight.get(key)?.fiber
      const shared: Shared<A> = {
        waiting: 1,
        result: Deferred.unsafeMake(FiberId.none),
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

    const leave = (shared: Shared<A>) =>
      Effect.suspend(() => {
        shared.waiting -= 1
        return shared.waiting > 0 || shared.fiber === undefined ? Effect.void : Fiber.interrupt(shared.fiber)
      })

    const link = ({ span }: Shared<A>) => span === undefined ? Effect.void : Effect.linkSpanCurrent(span)

    return (key, request, onEnd) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const known = inFlight.get(key)
          const isFirst = known === undefined || known.waiting === 0
          if (!isFirst) known.waiting += 1
          return Effect.flatMap(isFirst ? begin(key, request) : Effect.succeed(known), (shared) =>
            restore(Deferred.await(shared.result)).pipe(
              Effect.onInterrupt(() => leave(shared)),
              Effect.ensuring(Effect.suspend(() => link(shared))),
              Effect.exit,
              Effect.flatMap((exit) =>
                onEnd(exit, isFirst)
              )
            ))
        })
      )
  })
