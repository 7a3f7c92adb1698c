import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type { State } from "../AccessToken.js"
import { errors, type ForbiddenReason, type NutritionAdvisorError } from "../NutritionAdvisorError.js"

type Labels = Readonly<Record<string, string>>

type Reason = "missing" | "refresh" | "rejection"

const noFurtherLabels: ReadonlyArray<MetricLabel.MetricLabel> = []

const nameOf = (name: string) => `nutrition_advisor_${name}`

/** The labels are part of the key: labels put on a metric from outside are put together again at each count. */
const withLabels = <Type extends MetricKey.MetricKey.Untyped>(key: Type, labels: Labels): Type =>
  MetricKey.taggedWithLabels(
    key,
    Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value))
  ) as Type

/** Without the labels of the calling fiber: for what is counted at each request. */
const countNow = (counter: Metric.Metric.Counter<number>): void => counter.unsafeUpdate(1, noFurtherLabels)

/** One metric for each set of labels, made once: making it costs more than counting. */
const family = <Type extends MetricKey.MetricKey.Untyped, L extends Labels, M>(
  key: Type,
  make: (key: Type) => M
) => {
  const made = new Map<string, M>()
  return (labels: L): M => {
    const id = Object.values(labels).join(" ")
    const known = made.get(id) ?? make(withLabels(key, labels))
    made.set(id, known)
    return known
  }
}

const counters = <L extends Labels>(name: string, description: string) => {
  const counterOf = family<MetricKey.MetricKey.Counter<number>, L, Metric.Metric.Counter<number>>(
    MetricKey.counter(nameOf(name), { description, incremental: true }),
    (key) => Metric.fromMetricKey(key)
  )
  return {
    of: counterOf,
    count: (labels: L): Effect.Effect<void> => Metric.increment(counterOf(labels)),
    /** `rate()` sees the first event of a counter only where it stood at zero before. */
    startAtZero: (all: ReadonlyArray<L>): void => {
      for (const labels of all) counterOf(labels).unsafeUpdate(0, noFurtherLabels)
    }
  }
}

const tags = errors.map(({ _tag }) => _tag)

type Tag = NutritionAdvisorError["_tag"]

type ExchangeLabels = {
  readonly reason: Reason
  readonly outcome: "issued" | "unchanged" | "failed"
  readonly error: Tag | "Defect" | "none"
}

const exchanges = counters<ExchangeLabels>("token_exchanges_total", "Exchanges of the license key for a token")

export const exchanged = (reason: Reason, isUnchanged: boolean): Effect.Effect<void> =>
  exchanges.count({ reason, outcome: isUnchanged ? "unchanged" : "issued", error: "none" })

export const exchangeFailed = (reason: Reason, error: Tag | "Defect"): Effect.Effect<void> =>
  exchanges.count({ reason, outcome: "failed", error })

const served = counters<{ readonly state: State }>("tokens_served_total", "Tokens handed to callers")

const servedBy = {
  fresh: served.of({ state: "fresh" }),
  stale: served.of({ state: "stale" }),
  expired: served.of({ state: "expired" })
}

export const countServed = (state: State): void => countNow(servedBy[state])

const shared = counters<{ readonly outcome: SharedOutcome }>(
  "shared_tokens_total",
  "Tokens that replicas share, by the way this process came by them"
)

export type SharedOutcome = "HandedOver" | "Exchanged" | "ExchangedAlone"

export const shares = (outcome: SharedOutcome): Effect.Effect<void> => shared.count({ outcome })

type CacheFailure = "Unavailable" | "Timeout" | "Defect"

const cacheFailures = counters<{ readonly reason: CacheFailure }>(
  "shared_cache_failures_total",
  "Failures of the shared token cache"
)

export const cacheFailed = (reason: CacheFailure): Effect.Effect<void> => cacheFailures.count({ reason })

export type RejectionOutcome =
  | Exclude<ForbiddenReason, "KeyRejected">
  | "AcceptedAfterRenewal"
  | "RetryFailed"
  | "RenewalFailed"

const rejections = counters<{ readonly outcome: RejectionOutcome }>(
  "rejections_total",
  "Requests whose token was rejected"
)

export const rejectionEnded = (outcome: RejectionOutcome): Effect.Effect<void> => rejections.count({ outcome })

export const tokenExpiry = Metric.gauge(nameOf("token_expiry_timestamp_seconds"), {
  description: "When the token in use expires, in Unix time"
})

type Operation = "search" | "request"

type RequestLabels = {
  readonly operation: Operation
  readonly outcome: Tag | "Success" | "Interrupted" | "Defect"
  readonly at: "request" | "exchange"
}

const requests = counters<RequestLabels>(
  "requests_total",
  "Data requests, each counted once however often it was sent"
)

const durationOf = family(
  MetricKey.histogram(
    nameOf("request_duration_seconds"),
    MetricBoundaries.fromIterable([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
    "Time in seconds of a data request that was sent, renewal and second sending included"
  ),
  (key) => Metric.fromMetricKey(key)
)

/** What a data request that did not succeed ended in, and where. */
export const causeOf = (cause: Cause.Cause<NutritionAdvisorError>): Pick<RequestLabels, "outcome" | "at"> =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => ({ outcome: Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect", at: "request" }),
    onSome: ({ _tag, operation }) => ({ outcome: _tag, at: operation === "token" ? "exchange" : "request" })
  })

const requestMetrics = (labels: RequestLabels) => ({
  count: requests.of(labels),
  duration: durationOf({ operation: labels.operation, outcome: labels.outcome })
})

/** Looked up once: that would cost more than the counting at each request. */
const succeeded = {
  search: requestMetrics({ operation: "search", outcome: "Success", at: "request" }),
  request: requestMetrics({ operation: "request", outcome: "Success", at: "request" })
}

/** Counts the end of a data request, and its time where it was sent. */
export const requestEnded = (
  operation: Operation,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  millis: number | undefined
): void => {
  const { count, duration } = Exit.isSuccess(exit)
    ? succeeded[operation]
    : requestMetrics({ operation, ...causeOf(exit.cause) })
  countNow(count)
  if (millis !== undefined) duration.unsafeUpdate(millis / 1000, noFurtherLabels)
}

const rejectionOutcomes: ReadonlyArray<RejectionOutcome> = [
  "RejectedAgain",
  "TokenUnchanged",
  "CoolingDown",
  "BodyNotReplayable",
  "AcceptedAfterRenewal",
  "RetryFailed",
  "RenewalFailed"
]

/** The counters of the sharing stand at zero from then on. */
export const startSharing = (): void => {
  shared.startAtZero([{ outcome: "HandedOver" }, { outcome: "Exchanged" }, { outcome: "ExchangedAlone" }])
  cacheFailures.startAtZero([{ reason: "Unavailable" }, { reason: "Timeout" }, { reason: "Defect" }])
}

/** All counters stand at zero from then on, those of the sharing too: rules and dashboards find what they name. */
export const startClient = (): void => {
  startSharing()
  const reasons: ReadonlyArray<Reason> = ["missing", "refresh", "rejection"]
  exchanges.startAtZero(reasons.flatMap((reason): ReadonlyArray<ExchangeLabels> => [
    { reason, outcome: "issued", error: "none" },
    { reason, outcome: "unchanged", error: "none" },
    ...tags.map((error) => ({ reason, outcome: "failed" as const, error }))
  ]))
  served.startAtZero([{ state: "fresh" }, { state: "stale" }])
  rejections.startAtZero(rejectionOutcomes.map((outcome) => ({ outcome })))
  const operations: ReadonlyArray<Operation> = ["search", "request"]
  requests.startAtZero(operations.flatMap((operation): ReadonlyArray<RequestLabels> => [
    { operation, outcome: "Success", at: "request" },
    { operation, outcome: "Interrupted", at: "request" },
    ...tags.flatMap((outcome): ReadonlyArray<RequestLabels> => [
      { operation, outcome, at: "request" },
      { operation, outcome, at: "exchange" }
    ])
  ]))
}
