/** A call that fails with each reason of Forbidden that a request can have. */
import { HttpClientRequest } from "@effect/platform"
import { Effect, Stream, Struct } from "effect"
import { NutritionAdvisor, type NutritionAdvisorError } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import type { RequestReason } from "../../../src/internal/errors/forbidden.js"

export interface ForbiddenCall {
  /** The response to each search and request. To read it in the client, use `headerOf` and `json` of `http/serviceResponse`. */
  readonly response: Simulator.Reply
  /** Rejections that only renew the token, although they are almost the same. By default, those that differ from the response in one part. */
  readonly nearMisses?: ReadonlyArray<Simulator.Reply>
  /** Whether each exchange returns the same token. */
  readonly isTokenUnchanged?: boolean
  readonly call: Effect.Effect<unknown, NutritionAdvisorError.NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor>
  /** How many calls in a row it takes until one fails with the reason. */
  readonly calls: number
  /** How often these calls exchange the key, their first token included. */
  readonly exchanges: number
  /** Whether examples/bulk-search.ts stops, because all other searches would fail, too, instead of reporting the term. */
  readonly stopsBulkSearch: boolean
}

export const search = NutritionAdvisor.search("rice")

const streamed = HttpClientRequest.post("/v2/plan").pipe(
  HttpClientRequest.bodyStream(Stream.make(new Uint8Array([1])))
)

/** A rejection that only renews the token. */
const response = { status: 403 }

export const forbiddenCalls: Readonly<Record<RequestReason, ForbiddenCall>> = {
  RejectedAgain: { response, call: search, calls: 1, exchanges: 2, stopsBulkSearch: false },
  TokenUnchanged: { response, isTokenUnchanged: true, call: search, calls: 1, exchanges: 2, stopsBulkSearch: false },
  CoolingDown: { response, call: search, calls: 3, exchanges: 3, stopsBulkSearch: true },
  BodyNotReplayable: {
    response,
    call: Effect.flatMap(NutritionAdvisor.NutritionAdvisor, ({ httpClient }) => httpClient.execute(streamed)),
    calls: 1,
    exchanges: 2,
    stopsBulkSearch: false
  }
}

/** The responses that differ in one part: the status, a header, or a field of the body. */
const variationsOf = ({ body, headers = {}, status }: Simulator.Reply): ReadonlyArray<Simulator.Reply> => {
  const [headerNames, fieldNames] = [Object.keys(headers), Object.keys(Object(body))]
  const otherHeaders = [
    ...headerNames.map((name) => Struct.omit(headers, name)),
    ...headerNames.map((name) => ({ ...headers, [name]: "other" }))
  ]
  const otherBodies = [undefined, null, ...fieldNames.map((name) => Object.assign({}, body, { [name]: "other" }))]
  return [
    { status: status === 403 ? 401 : 403, headers, body },
    ...otherHeaders.map((other) => ({ status, headers: other, body })),
    ...(body === undefined ? [] : otherBodies).map((other) => ({ status, headers, body: other }))
  ]
}

const nearMissesOf = (rejection: ForbiddenCall): ReadonlyArray<Simulator.Reply> =>
  rejection.response === response ? [] : rejection.nearMisses ?? variationsOf(rejection.response)

/** Rejections that only renew the token. */
export const ordinaryRejections: ReadonlyArray<Simulator.Reply> = [
  response,
  { status: 401 },
  { status: 403, body: null },
  { status: 403, body: "<html></html>" },
  ...Object.values(forbiddenCalls).flatMap(nearMissesOf)
]

export const arrange = (simulator: Simulator.Service, { isTokenUnchanged = false, response }: ForbiddenCall) =>
  Effect.all([
    simulator.respondAlways("search", response),
    simulator.respondAlways("request", response),
    Effect.when(simulator.provoke("token", "same-token"), () => isTokenUnchanged)
  ])

/** The errors of all calls. */
export const failures = ({ call, calls }: ForbiddenCall) => Effect.replicateEffect(Effect.flip(call), calls)
