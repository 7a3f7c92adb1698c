import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { identity } from "effect/Function"
import * as Tracer from "effect/Tracer"
import type { AccessToken } from "../../AccessToken.js"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { clockOf, wallOf } from "../clock.js"
import * as Metrics from "../metrics.js"

/** With the tracer of a runtime that was given none, no span is made: it would show its spans to nobody. */
const defaultTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * One data request from its beginning to its end: its span, its time, and what it has in flight, which it cancels at its end. It
 * does not refer to its fiber: V8 may come to allocate objects like this one in the old generation, where even dead they keep
 * alive what they refer to (docs/upstream.md).
 */
export class RequestRun {
  readonly startedAt: number
  isSent = false
  /** The tokens that it was sent with, where it was sent more than once. */
  sent: ReadonlyArray<AccessToken> | undefined
  private inFlight: { readonly cancel: () => void } | undefined

  constructor(readonly clock: Clock.Clock, readonly span?: Tracer.Span) {
    this.startedAt = wallOf(clock)
  }

  onStart(request: { readonly cancel: () => void }) {
    this.inFlight = request
  }

  cancel() {
    this.inFlight?.cancel()
  }
}

type Body<A, E, R> = (run: RequestRun) => Effect.Effect<A, E, R>

/**
 * Runs a data request as a span that is counted and timed by how it ended. It runs for each search: so what `Effect.withSpan`
 * and two finalizers do is done by hand here.
 */
export const makeRunner = (operation: "search" | "request", server: Readonly<Record<string, string | number>>) => {
  const record = <A, E extends NutritionAdvisorError>(
    { clock, isSent, startedAt }: RequestRun,
    exit: Exit.Exit<A, E>
  ) => {
    Metrics.requestEnded(operation, exit, isSent ? wallOf(clock) - startedAt : undefined)
    return exit
  }

  const untilEnd = <A, E extends NutritionAdvisorError, R>(
    run: RequestRun,
    self: Effect.Effect<A, E, R>,
    onEnd: (exit: Exit.Exit<A, E>) => Effect.Effect<A, E>
  ) =>
    Effect.matchCauseEffect(self, {
      onFailure: (cause) => {
        run.cancel()
        return onEnd(record(run, Exit.failCause(cause)))
      },
      onSuccess: (value) => onEnd(record(run, Exit.succeed(value)))
    })

  const withSpan = <A, E extends NutritionAdvisorError, R>(
    attributes: Readonly<Record<string, string>>,
    clock: Clock.Clock,
    body: Body<A, E, R>
  ) =>
    Effect.flatMap(
      Effect.makeSpan(`NutritionAdvisor.${operation}`, {
        attributes: { ...server, ...attributes },
        captureStackTrace: false,
        kind: "client"
      }),
      (span) =>
        Effect.withFiberRuntime<A, E, R>((fiber) => {
          const outside = fiber.currentContext
          const run = new RequestRun(clock, span)
          return Effect.zipRight(
            FiberRef.set(FiberRef.currentContext, Context.add(outside, Tracer.ParentSpan, span)),
            untilEnd(run, body(run), (exit) => {
              const isTimed = fiber.getFiberRef(FiberRef.currentTracerTimingEnabled)
              if (Exit.isFailure(exit)) span.attribute("error.type", Metrics.causeOf(exit.cause).outcome)
              span.end(isTimed ? clock.unsafeCurrentTimeNanos() : 0n, exit)
              return Effect.zipRight(FiberRef.set(FiberRef.currentContext, outside), exit)
            })
          )
        })
    )

  return <A, E extends NutritionAdvisorError, R>(
    attributes: Readonly<Record<string, string>>,
    body: Body<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime((fiber) => {
        const clock = clockOf(fiber)
        const restored: Body<A, E, R> = (run) => restore(Effect.suspend(() => body(run)))
        if (fiber.currentTracer !== defaultTracer) return withSpan(attributes, clock, restored)
        const run = new RequestRun(clock)
        return untilEnd(run, restored(run), identity)
      })
    )
}
