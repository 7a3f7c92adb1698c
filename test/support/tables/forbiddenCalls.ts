/** A call that fails with each reason of Forbidden that a request can have. */
import { HttpClientRequest } from "@effect/platform"
import { Effect, Stream } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import type { RequestReason } from "../../../src/internal/errors/forbidden.js"
import { execute } from "../doubles/simulatedAdvisor.js"

/** The status codes that a client treats as a rejection by default. */
export const rejectedStatuses = [403, 401] as const

type RejectedStatus = (typeof rejectedStatuses)[number]

export interface ForbiddenCall {
  /** What the response to each search and request contains, if the reason depends on it. */
  readonly response?: Omit<Simulator.Reply, "status">
  /** The status codes of responses with this reason. All of `rejectedStatuses` by default. */
  readonly statuses?: readonly [RejectedStatus, ...Array<RejectedStatus>]
  /** Whether each exchange returns the same token. */
  readonly isTokenUnchanged?: boolean
  readonly call: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor>
  /** How often it has to be called until it fails with the reason. */
  readonly times: number
  /** How often these calls exchange the key, their first token included. */
  readonly exchanges: number
  /** How often these calls are sent, retries included. */
  readonly sends: number
  /** Whether examples/bulk-search.ts stops, because all other searches would fail, too, instead of reporting the term. */
  readonly stopsBulkSearch: boolean
}

export const search = NutritionAdvisor.search("rice")

const streamed = HttpClientRequest.post("/v2/plan").pipe(
  HttpClientRequest.bodyStream(Stream.make(new Uint8Array([1])))
)

export const forbiddenCalls: Readonly<Record<RequestReason, ForbiddenCall>> = {
  RejectedAgain: { call: search, times: 1, exchanges: 2, sends: 2, stopsBulkSearch: false },
  TokenUnchanged: { isTokenUnchanged: true, call: search, times: 1, exchanges: 2, sends: 1, stopsBulkSearch: false },
  CoolingDown: { call: search, times: 3, exchanges: 3, sends: 5, stopsBulkSearch: true },
  BodyNotReplayable: { call: execute(streamed), times: 1, exchanges: 2, sends: 1, stopsBulkSearch: false }
}

export const statusesOf = ({ statuses = rejectedStatuses }: ForbiddenCall): ReadonlyArray<RejectedStatus> => statuses

export const responseOf = ({ response, statuses: [status] = rejectedStatuses }: ForbiddenCall): Simulator.Reply => ({
  ...response,
  status
})

export const arrange = (
  simulator: Simulator.Service,
  forbiddenCall: ForbiddenCall,
  response: Simulator.Reply = responseOf(forbiddenCall)
) =>
  Effect.all([
    simulator.respondAlways("search", response),
    simulator.respondAlways("request", response),
    Effect.when(simulator.provoke("token", "same-token"), () => forbiddenCall.isTokenUnchanged === true)
  ])

/** The errors of all calls. */
export const failures = ({ call, times }: ForbiddenCall) => Effect.replicateEffect(Effect.flip(call), times)
