import * as Exit from "effect/Exit"
import type { NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import { requestReasons } from "../errors/forbidden.js"
import { counter, errorTags, failureLabels, histogram } from "../telemetry/metrics.js"
import type { DataOperation } from "./build.js"

const rejectionOutcomes = [...requestReasons, "AcceptedAfterRenewal", "RetryFailed", "RenewalFailed"] as const

/** How a request with a rejected status ended. */
export type RejectionOutcome = (typeof rejectionOutcomes)[number]

export const rejections = counter(
  "rejections_total",
  "Rejected requests, by how they ended",
  rejectionOutcomes.map((outcome) => ({ outcome }))
)

const outcomes = ["Success", "Interrupted", "Defect", ...errorTags] as const

type RequestLabels = {
  readonly operation: DataOperation
  readonly outcome: (typeof outcomes)[number]
  readonly at: "request" | "exchange"
}

const requests = counter<RequestLabels>(
  "requests_total",
  "Data requests, each counted once however often it was sent",
  (["search", "request"] as const).flatMap((operation) => [
    ...outcomes.map((outcome) => ({ operation, outcome, at: "request" } as const)),
    ...errorTags.map((outcome) => ({ operation, outcome, at: "exchange" } as const))
  ])
)

const durations = histogram<Omit<RequestLabels, "at">>(
  "request_duration_seconds",
  "Duration in seconds of a data request that was sent, including a renewal and the retry",
  [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
)

const metricsOf = ({ at, operation, outcome }: RequestLabels) => ({
  count: requests.withLabels({ operation, outcome, at }),
  observe: durations({ operation, outcome })
})

/** These are looked up only once, because most requests succeed. */
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

export const createSeries = (): void => {
  rejections.createSeries()
  requests.createSeries()
}
