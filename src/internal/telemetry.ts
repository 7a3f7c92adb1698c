import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import type * as AccessToken from "../AccessToken.js"
import type { NutritionAdvisorError, Operation } from "../NutritionAdvisorError.js"

const counter = (name: string, description: string): Metric.Metric.Counter<number> =>
  Metric.counter(`nutrition_advisor_${name}`, { description, incremental: true })

const labeled = (metric: Metric.Metric.Counter<number>, labels: Record<string, string>) =>
  Object.entries(labels).reduce((labeled, [key, value]) => Metric.tagged(labeled, key, value), metric)

const exchanges = counter("token_exchanges_total", "Exchanges of the license key for a token")

export type ExchangeReason = "missing" | "refresh" | "rejection"

export const exchanged = (reason: ExchangeReason, outcome: "issued" | "unchanged" | "failed") =>
  Metric.increment(labeled(exchanges, { reason, outcome }))

const served = counter("tokens_served_total", "Tokens handed to callers")

const servedByState: Record<AccessToken.State, Metric.Metric.Counter<number>> = {
  fresh: labeled(served, { state: "fresh" }),
  stale: labeled(served, { state: "stale" }),
  expired: labeled(served, { state: "expired" })
}

export const countServed = (state: AccessToken.State) => servedByState[state].unsafeUpdate(1, [])

const rejections = counter("rejections_total", "Requests whose token was rejected")

export type RejectionOutcome =
  | "AcceptedAfterRenewal"
  | "RejectedAgain"
  | "TokenUnchanged"
  | "CoolingDown"
  | "BodyNotReplayable"
  | "RenewalFailed"

export const rejectionEnded = (outcome: RejectionOutcome) => Metric.increment(labeled(rejections, { outcome }))

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

const requestEnded = (operation: Operation, outcome: RequestOutcome) =>
  Metric.increment(labeled(requests, { operation, outcome }))

const requestDuration = Metric.histogram(
  "nutrition_advisor_request_duration_seconds",
  MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
  "Time of a data request in seconds, renewal and second sending included"
)

export const tokenExpiresIn = Metric.gauge("nutrition_advisor_token_expires_in_seconds", {
  description: "Seconds the newest token had to live when it was received"
})

/** Counts how a data request ended and how long it took. */
export const observed =
  (operation: Operation) =>
  <A, E extends NutritionAdvisorError, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) => {
      const start = clock.unsafeCurrentTimeMillis()
      return Effect.onExit(self, (exit) =>
        Effect.zipRight(
          requestEnded(operation, outcomeOf(exit)),
          Metric.update(requestDuration, (clock.unsafeCurrentTimeMillis() - start) / 1000)
        ))
    })
