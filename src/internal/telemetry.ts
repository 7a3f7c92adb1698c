import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type * as AccessToken from "../AccessToken.js"
import type { NutritionAdvisorError, Operation } from "../NutritionAdvisorError.js"
import type { Reason } from "../TokenIssuer.js"

const counter = (name: string, description: string): Metric.Metric.Counter<number> =>
  Metric.counter(`nutrition_advisor_${name}`, { description, incremental: true })

/** All labels in one step: effect remembers what it made of one list of labels, not of several put together. */
const labeled = (metric: Metric.Metric.Counter<number>, labels: Record<string, string>) =>
  Metric.taggedWithLabels(metric, Object.entries(labels).map(([key, value]) => MetricLabel.make(key, value)))

const exchanges = counter("token_exchanges_total", "Exchanges of the license key for a token")

export const exchanged = (reason: Reason, outcome: "issued" | "unchanged" | "failed") =>
  Metric.increment(labeled(exchanges, { reason, outcome }))

const served = counter("tokens_served_total", "Tokens handed to callers")

const servedByState: Record<AccessToken.State, Metric.Metric.Counter<number>> = {
  fresh: labeled(served, { state: "fresh" }),
  stale: labeled(served, { state: "stale" }),
  expired: labeled(served, { state: "expired" })
}

export const countServed = (state: AccessToken.State) => servedByState[state].unsafeUpdate(1, [])

const shared = counter("shared_tokens_total", "Tokens that replicas share, by the way this process came by them")

export type SharedOutcome = "HandedOver" | "Exchanged" | "ExchangedAlone"

export const shares = (outcome: SharedOutcome) => Metric.increment(labeled(shared, { outcome }))

const cacheFailures = counter("shared_cache_failures_total", "Failures of the shared token cache")

export const cacheFailed = (reason: "Unavailable" | "Timeout" | "Defect") =>
  Metric.increment(labeled(cacheFailures, { reason }))

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

/** A metric with labels is made once: making it costs more than counting. */
const requestsByEnd = new Map<string, Metric.Metric.Counter<number>>()

const requestEnded = (operation: Operation, outcome: RequestOutcome) => {
  const end = `${operation} ${outcome}`
  const known = requestsByEnd.get(end)
  const counter = known ?? labeled(requests, { operation, outcome })
  if (known === undefined) requestsByEnd.set(end, counter)
  counter.unsafeUpdate(1, [])
}

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
        Effect.sync(() => {
          requestEnded(operation, outcomeOf(exit))
          requestDuration.unsafeUpdate((clock.unsafeCurrentTimeMillis() - start) / 1000, [])
        }))
    })
