import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as Option from "effect/Option"
import { errors, ForbiddenReason, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type { DataOperation } from "../errors/dataOperation.js"

type Labels = Readonly<Record<string, string>>

/** Labels passed with an update would be merged each time, so all of them are part of the key. */
const update = (key: MetricKey.MetricKey.Untyped) => {
  const metric = Metric.fromMetricKey(key)
  return (value: number): void => metric.unsafeUpdate(value, [])
}

/** Keeps one metric for each set of labels, because creating it costs more than an update. */
const family = <L extends Labels>(key: MetricKey.MetricKey.Untyped) => {
  const updates = new Map<string, (value: number) => void>()
  return (labels: L) => {
    const id = Object.values(labels).join(" ")
    const found = updates.get(id) ??
      update(Object.entries(labels).reduce((key, [name, value]) => MetricKey.tagged(key, name, value), key))
    updates.set(id, found)
    return found
  }
}

const counter = <L extends Labels>(name: string, description: string) =>
  family<L>(MetricKey.counter(`nutrition_advisor_${name}`, { description, incremental: true }))

/** A counter with one label. `start` creates the series of each value, at zero. */
export const byLabel = <V extends string>(
  name: string,
  label: string,
  values: ReadonlyArray<V>,
  description: string
) => {
  const labeled = counter<Readonly<Record<string, V>>>(name, description)
  return {
    start: () => values.forEach((value) => labeled({ [label]: value })(0)),
    count: (value: V) => labeled({ [label]: value })(1)
  }
}

type Tag = NutritionAdvisorError["_tag"]

type Failure = Tag | "Interrupted" | "Defect"

type Reason = "missing" | "refresh" | "rejection"

const exchanges = counter<{
  readonly reason: Reason
  readonly outcome: "issued" | "unchanged" | "failed"
  readonly error: Failure | "none"
}>("token_exchanges_total", "Exchanges of the license key for a token")

/** The reasons of a Forbidden that belong to a request. "KeyRejected" belongs to an exchange. */
const requestReasons = ForbiddenReason.literals.filter((reason) => reason !== "KeyRejected")
export type RequestReason = (typeof requestReasons)[number]

export const rejections = byLabel("rejections_total", "outcome", [
  ...requestReasons,
  "AcceptedAfterRenewal",
  "RetryFailed",
  "RenewalFailed"
], "Requests whose token was rejected")

type RequestLabels = {
  readonly operation: DataOperation
  readonly outcome: Failure | "Success"
  readonly at: "request" | "exchange"
}

const requests = counter<RequestLabels>("requests_total", "Data requests, each counted once however often it was sent")

const durations = family<Omit<RequestLabels, "at">>(MetricKey.histogram(
  "nutrition_advisor_request_duration_seconds",
  MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
  "Duration in seconds of a data request that was sent, including a renewal and the retry"
))

const setExpiry = update(
  MetricKey.gauge("nutrition_advisor_token_expiry_timestamp_seconds", {
    description: "When the token in use expires, in Unix time"
  })
)

/** Returns the labels for a failure: its error, and whether the request or the exchange failed. */
export const failureLabels = (cause: Cause.Cause<NutritionAdvisorError>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => ({ outcome: Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect", at: "request" } as const),
    onSome: ({ _tag, operation }) => ({ outcome: _tag, at: operation === "token" ? "exchange" : "request" } as const)
  })

export const exchanged = (reason: Reason, outcome: "issued" | "unchanged"): void =>
  exchanges({ reason, outcome, error: "none" })(1)

export const exchangeFailed = (reason: Reason, cause: Cause.Cause<NutritionAdvisorError>): void =>
  exchanges({ reason, outcome: "failed", error: failureLabels(cause).outcome })(1)

export const tokenExpires = (epochMillis: number): void => setExpiry(epochMillis / 1000)

const metricsOf = ({ at, operation, outcome }: RequestLabels) => ({
  count: requests({ operation, outcome, at }),
  observe: durations({ operation, outcome })
})

const succeeded = {
  search: metricsOf({ operation: "search", outcome: "Success", at: "request" }),
  request: metricsOf({ operation: "request", outcome: "Success", at: "request" })
}

/** Counts a data request, and records its duration if it was sent. */
export const requestEnded = (
  operation: DataOperation,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  millis: number | undefined
): void => {
  const { count, observe } = Exit.isSuccess(exit)
    ? succeeded[operation]
    : metricsOf({ operation, ...failureLabels(exit.cause) })
  count(1)
  if (millis !== undefined) observe(millis / 1000)
}

let isStarted = false

/** Creates every counter at zero, once per process. Without the zero, `rate()` of Prometheus would miss the first event. */
export const startClient = (): void => {
  if (isStarted) return
  isStarted = true
  const tags = errors.map(({ _tag }) => _tag)
  for (const reason of ["missing", "refresh", "rejection"] as const) {
    for (const outcome of ["issued", "unchanged"] as const) exchanges({ reason, outcome, error: "none" })(0)
    for (const error of tags) exchanges({ reason, outcome: "failed", error })(0)
  }
  rejections.start()
  for (const operation of ["search", "request"] as const) {
    for (const outcome of ["Success", "Interrupted", ...tags] as const) {
      requests({ operation, outcome, at: "request" })(0)
    }
    for (const outcome of tags) requests({ operation, outcome, at: "exchange" })(0)
  }
}
