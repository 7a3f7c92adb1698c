import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { identity } from "effect/Function"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type * as AccessToken from "../AccessToken.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"
import type { Reason } from "../TokenIssuer.js"
import type { Region } from "./region.js"

type Counter = Metric.Metric.Counter<number>

const counter = (name: string, description: string): MetricKey.MetricKey.Counter<number> =>
  MetricKey.counter(`nutrition_advisor_${name}`, { description, incremental: true })

/** The labels are part of its key: labels put on a metric from outside are put together again at each count. */
const labeled = (key: MetricKey.MetricKey.Counter<number>, labels: Readonly<Record<string, string>>): Counter =>
  Metric.fromMetricKey(
    MetricKey.taggedWithLabels(key, Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value)))
  )

/** Making a metric with labels costs more than counting. */
const madeOnce = <Key extends string>(make: (key: Key) => Counter) => {
  const made = new Map<Key, Counter>()
  return (key: Key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const counter = make(key)
    made.set(key, counter)
    return counter
  }
}

const exchanges = counter("token_exchanges_total", "Exchanges of the license key for a token")

export const exchanged = (reason: Reason, outcome: "issued" | "unchanged" | "failed") =>
  Metric.increment(labeled(exchanges, { reason, outcome }))

const served = counter("tokens_served_total", "Tokens handed to callers")

const servedByState: Record<AccessToken.State, Counter> = {
  fresh: labeled(served, { state: "fresh" }),
  stale: labeled(served, { state: "stale" }),
  expired: labeled(served, { state: "expired" })
}

const noFurtherLabels: ReadonlyArray<MetricLabel.MetricLabel> = []

export const countServed = (state: AccessToken.State) => servedByState[state].unsafeUpdate(1, noFurtherLabels)

const shared = counter("shared_tokens_total", "Tokens that replicas share, by the way this process came by them")

export type SharedOutcome = "HandedOver" | "Exchanged" | "ExchangedAlone"

export const shares = (outcome: SharedOutcome) => Metric.increment(labeled(shared, { outcome }))

const cacheFailures = counter("shared_cache_failures_total", "Failures of the shared token cache")

export const cacheFailed = (reason: "Unavailable" | "Timeout" | "Defect") =>
  Metric.increment(labeled(cacheFailures, { reason }))

const rejections = counter("rejections_total", "Requests whose token was rejected")

export type RejectionOutcome =
  | "AcceptedAfterRenewal"
  | "RetryFailed"
  | "RejectedAgain"
  | "TokenUnchanged"
  | "CoolingDown"
  | "BodyNotReplayable"
  | "RenewalFailed"

const rejectionsBy = madeOnce((outcome: RejectionOutcome) => labeled(rejections, { outcome }))

export const rejectionEnded = (outcome: RejectionOutcome) => Metric.increment(rejectionsBy(outcome))

const requests = counter("requests_total", "Data requests, each counted once however often it was sent")

type RequestOutcome = "Success" | "Defect" | "Interrupted" | NutritionAdvisorError["_tag"]

const outcomeOf = (exit: Exit.Exit<unknown, NutritionAdvisorError>): RequestOutcome =>
  Exit.match(exit, {
    onSuccess: () => "Success",
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect",
        onSome: (error) => error._tag
      })
  })

const requestDuration = Metric.histogram(
  "nutrition_advisor_request_duration_seconds",
  MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
  "Time of a data request in seconds, renewal and second sending included"
)

export const tokenExpiresIn = Metric.gauge("nutrition_advisor_token_expires_in_seconds", {
  description: "Seconds the newest token had to live when it was received"
})

/** The tracer of a runtime that was given none: it keeps no span and shows none to anybody. */
const unheard = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * A data request as a span, counted and timed by how it ended. It runs for each search, so what `Effect.withSpan` and two
 * finalizers do is one region here, and a span that nobody would ever see is not made.
 */
export const observed = (operation: "search" | "request") => {
  const counterOf = madeOnce((outcome: RequestOutcome) => labeled(requests, { operation, outcome }))

  const begun = (clock: Clock.Clock, span: Tracer.Span | undefined): Region => ({
    clock,
    start: clock.unsafeCurrentTimeMillis(),
    span,
    underWay: undefined
  })

  const counted = <A, E extends NutritionAdvisorError>({ clock, start }: Region, exit: Exit.Exit<A, E>) => {
    counterOf(outcomeOf(exit)).unsafeUpdate(1, noFurtherLabels)
    requestDuration.unsafeUpdate((clock.unsafeCurrentTimeMillis() - start) / 1000, noFurtherLabels)
    return exit
  }

  const timed = <A, E extends NutritionAdvisorError, R>(
    region: Region,
    self: Effect.Effect<A, E, R>,
    onEnd: (exit: Exit.Exit<A, E>) => Effect.Effect<A, E>
  ) =>
    Effect.matchCauseEffect(self, {
      onFailure: (cause) => {
        region.underWay?.giveUp()
        return onEnd(counted(region, Exit.failCause(cause)))
      },
      onSuccess: (value) => onEnd(counted(region, Exit.succeed(value)))
    })

  const traced = <A, E extends NutritionAdvisorError, R>(
    attributes: Readonly<Record<string, string>>,
    clock: Clock.Clock,
    run: (region: Region) => Effect.Effect<A, E, R>
  ) =>
    Effect.flatMap(
      Effect.makeSpan(`NutritionAdvisor.${operation}`, { attributes, captureStackTrace: false, kind: "client" }),
      (span) =>
        Effect.withFiberRuntime<A, E, R>((fiber) => {
          const outside = fiber.currentContext
          const region = begun(clock, span)
          return Effect.zipRight(
            FiberRef.set(FiberRef.currentContext, Context.add(outside, Tracer.ParentSpan, span)),
            timed(region, run(region), (exit) => {
              const isTimed = fiber.getFiberRef(FiberRef.currentTracerTimingEnabled)
              span.end(isTimed ? clock.unsafeCurrentTimeNanos() : 0n, exit)
              return Effect.zipRight(FiberRef.set(FiberRef.currentContext, outside), exit)
            })
          )
        })
    )

  return <A, E extends NutritionAdvisorError, R>(
    attributes: Readonly<Record<string, string>>,
    body: (region: Region) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime((fiber) => {
        const clock = Context.get(fiber.currentDefaultServices, Clock.Clock)
        if (fiber.currentTracer !== unheard) {
          return traced(attributes, clock, (region) => restore(Effect.suspend(() => body(region))))
        }
        const region = begun(clock, undefined)
        return timed(region, restore(Effect.suspend(() => body(region))), identity)
      })
    )
}
