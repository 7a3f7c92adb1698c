/**
 * A call that fails with each reason of Forbidden that a request can have.
 *
 * If the reason depends on the response, also test a search, a request and a stream, and responses that are almost the same: with another
 * status, with another body, and with the body `null`.
 */
import { HttpClientRequest } from "@effect/platform"
import { Effect, Stream } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import type { RequestReason } from "../../../src/internal/errors/forbidden.js"

export interface ForbiddenCall {
  /** The response to each search and request. To read it in the client, use `headerOf` and `json` of `http/serviceResponse`. */
  readonly response: Simulator.Reply
  /** Whether each exchange returns the same token. */
  readonly isTokenUnchanged?: boolean
  readonly call: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor>
  /** How many calls in a row it takes until one fails with the reason. */
  readonly calls: number
  /** How often these calls exchange the key, their first token included. */
  readonly exchanges: number
  /** Whether all other searches would fail, too, so that examples/bulk-search.ts stops instead of reporting the term. */
  readonly concernsAll: boolean
}

export const search = NutritionAdvisor.search("rice")

const streamed = HttpClientRequest.post("/v2/plan").pipe(
  HttpClientRequest.bodyStream(Stream.make(new Uint8Array([1])))
)

const response = { status: 403 }

export const forbiddenCalls: Readonly<Record<RequestReason, ForbiddenCall>> = {
  RejectedAgain: { response, call: search, calls: 1, exchanges: 2, concernsAll: false },
  TokenUnchanged: { response, isTokenUnchanged: true, call: search, calls: 1, exchanges: 2, concernsAll: false },
  CoolingDown: { response, call: search, calls: 3, exchanges: 3, concernsAll: true },
  BodyNotReplayable: {
    response,
    call: Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(streamed)),
    calls: 1,
    exchanges: 2,
    concernsAll: false
  }
}

export const arrange = (simulator: Simulator.Service, { isTokenUnchanged = false, response }: ForbiddenCall) =>
  Effect.all([
    simulator.respondAlways("search", response),
    simulator.respondAlways("request", response),
    Effect.when(simulator.provoke("token", "same-token"), () => isTokenUnchanged)
  ])

/** The errors of all calls. */
export const failures = ({ call, calls }: ForbiddenCall) => Effect.replicateEffect(Effect.flip(call), calls)
