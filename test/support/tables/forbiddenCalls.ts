/** A call that fails with each reason of Forbidden that a request can have. */
import { HttpClientRequest } from "@effect/platform"
import { Effect, Predicate, Record, Stream } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import type { RequestReason } from "../../../src/internal/errors/forbidden.js"

export interface ForbiddenCall {
  /** The response to each search and request, if the reason depends on it. Otherwise, it is a 403. */
  readonly response?: Simulator.Reply
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
  BodyNotReplayable: {
    call: Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(streamed)),
    times: 1,
    exchanges: 2,
    sends: 1,
    stopsBulkSearch: false
  }
}

export const responseOf = ({ response = { status: 403 } }: ForbiddenCall): Simulator.Reply => response

/** A longer value, and one in another case. */
const similarTo = (value: unknown) =>
  [`${value}-other`, `${value}`.toLowerCase(), `${value}`.toUpperCase()].filter((similar) => similar !== value)

/** The responses that differ in one part: the status, or a header or field that has another name or value. */
const variationsOf = ({ body, headers = {}, status }: Simulator.Reply): ReadonlyArray<Simulator.Reply> => {
  const variations = (fields: object) =>
    Object.entries(fields).flatMap(([name, value]) => [
      { ...fields, [name]: undefined, "x-other": value },
      ...similarTo(value).map((similar) => ({ ...fields, [name]: similar }))
    ])
  const otherBodies = body === undefined ? [] : [undefined, null, ...variations(Object(body))]
  return [
    { status: status === 403 ? 401 : 403, headers, body },
    ...variations(headers).map((other) => ({ status, headers: Record.filter(other, Predicate.isString), body })),
    ...otherBodies.map((other) => ({ status, headers, body: other }))
  ]
}

/** Rejections that only renew the token, although some are almost the same as the response of a reason. */
export const ordinaryRejections: ReadonlyArray<Simulator.Reply> = [
  { status: 401 },
  { status: 403 },
  { status: 403, body: null },
  { status: 403, body: "<html></html>" },
  ...Object.values(forbiddenCalls).flatMap(({ response }) => response === undefined ? [] : variationsOf(response))
]

export const arrange = (simulator: Simulator.Service, forbiddenCall: ForbiddenCall) =>
  Effect.all([
    simulator.respondAlways("search", responseOf(forbiddenCall)),
    simulator.respondAlways("request", responseOf(forbiddenCall)),
    Effect.when(simulator.provoke("token", "same-token"), () => forbiddenCall.isTokenUnchanged === true)
  ])

/** The errors of all calls. */
export const failures = ({ call, times }: ForbiddenCall) => Effect.replicateEffect(Effect.flip(call), times)
