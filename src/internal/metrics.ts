import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { State } from "../AccessToken.js"
import { errors, type NutritionAdvisorError } from "../NutritionAdvisorError.js"
import { counters, gauge, histogram } from "./counter.js"

type Tag = NutritionAdvisorError["_tag"]

const tags = errors.map(({ _tag }) => _tag)

const triggers = ["missing", "refresh", "rejection"] as const

type Trigger = typeof triggers[number]

type ExchangeLabels = {
  readonly reason: Trigger
  readonly outcome: "issued" | "unchanged" | "failed"
  readonly error: Tag | "Defect" | "none"
}

const exchanges = counters<ExchangeLabels>(
  "token_exchanges_total",
  "Exchanges of the license key for a token",
  triggers.flatMap((reason): ReadonlyArray<ExchangeLabels> => [
    { reason, outcome: "issued", error: "none" },
    { reason, outcome: "unchanged", error: "none" },
    ...tags.map((error) => ({ reason, outcome: "failed" as const, error }))
  ])
)

export const exchanged = (reason: Trigger, isUnchanged: boolean): Effect.Effect<void> =>
  exchanges.count({ reason, outcome: isUnchanged ? "unchanged" : "issued", error: "none" })

export const exchangeFailed = (reason: Trigger, error: Tag | "Defect"): Effect.Effect<void> =>
  exchanges.count({ reason, outcome: "failed", error })

const served = counters<{ readonly state: State }>("tokens_served_total", "Tokens handed to callers", [
  { state: "fresh" },
  { state: "stale" }
])

const servedBy = {
  fresh: served.of({ state: "fresh" }),
  stale: served.of({ state: "stale" }),
  expired: served.of({ state: "expired" })
}

export const countServed = (state: State): void => servedBy[state](1)

export const sharedTokens = counters<{ readonly outcome: "HandedOver" | "Exchanged" | "ExchangedAlone" }>(
  "shared_tokens_total",
  "Tokens that replicas share, by the way this process came by them",
  [{ outcome: "HandedOver" }, { outcome: "Exchanged" }, { outcome: "ExchangedAlone" }]
)

export const cacheFailures = counters<{ readonly reason: "Unavailable" | "Timeout" | "Defect" }>(
  "shared_cache_failures_total",
  "Failures of the shared token cache",
  [{ reason: "Unavailable" }, { reason: "Timeout" }, { reason: "Defect" }]
)

const rejectionOutcomes = [
  "RejectedAgain",
  "TokenUnchanged",
  "CoolingDown",
  "BodyNotReplayable",
  "AcceptedAfterRenewal",
  "RetryFailed",
  "RenewalFailed"
] as const

export const rejections = counters<{ readonly outcome: typeof rejectionOutcomes[number] }>(
  "rejections_total",
  "Requests whose token was rejected",
  rejectionOutcomes.map((outcome) => ({ outcome }))
)

const setExpiry = gauge("token_expiry_timestamp_seconds", "When the token in use expires, in Unix time")

export const tokenExpires = (epochMillis: number): Effect.Effect<void> =>
  Effect.sync(() => setExpiry(epochMillis / 1000))

type Operation = "search" | "request"

type RequestLabels = {
  readonly operation: Operation
  readonly outcome: Tag | "Success" | "Interrupted" | "Defect"
  readonly at: "request" | "exchange"
}

const requests = counters<RequestLabels>(
  "requests_total",
  "Data requests, each counted once however often it was sent",
  (["search", "request"] as const).flatMap((operation): ReadonlyArray<RequestLabels> => [
    { operation, outcome: "Success", at: "request" },
    { operation, outcome: "Interrupted", at: "request" },
    ...tags.flatMap((outcome): ReadonlyArray<RequestLabels> => [
      { operation, outcome, at: "request" },
      { operation, outcome, at: "exchange" }
    ])
  ])
)

const durationOf = histogram<Omit<RequestLabels, "at">>(
  "request_duration_seconds",
  "Time in seconds of a data request that was sent, renewal and second sending included",
  [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
)

/** What a data request that did not succeed ended in, and where. */
export const causeOf = (cause: Cause.Cause<NutritionAdvisorError>): Pick<RequestLabels, "outcome" | "at"> =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => ({ outcome: Cause.isInterruptedOnly(cause) ? "Interrupted" : "Defect", at: "request" }),
    onSome: ({ _tag, operation }) => ({ outcome: _tag, at: operation === "token" ? "exchange" : "request" })
  })

const metricsOf = (labels: RequestLabels) => ({
  count: requests.of(labels),
  observe: durationOf({ operation: labels.operation, outcome: labels.outcome })
})

const succeeded = {
  search: metricsOf({ operation: "search", outcome: "Success", at: "request" }),
  request: metricsOf({ operation: "request", outcome: "Success", at: "request" })
}

/** Counts the end of a data request, and its time where it was sent. */
export const requestEnded = (
  operation: Operation,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  millis: number | undefined
): void => {
  const { count, observe } = Exit.isSuccess(exit)
    ? succeeded[operation]
    : metricsOf({ operation, ...causeOf(exit.cause) })
  count(1)
  if (millis !== undefined) observe(millis / 1000)
}

/** All counters stand at zero from then on, those of the sharing too: rules and dashboards find what they name. */
export const startClient = (): void => {
  sharedTokens.start()
  cacheFailures.start()
  exchanges.start()
  served.start()
  rejections.start()
  requests.start()
}
