import type * as HttpBody from "@effect/platform/HttpBody"
import * as Effect from "effect/Effect"
import { type AccessToken, isSame } from "../../AccessToken.js"
import { Forbidden, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type * as TokenProvider from "../../TokenProvider.js"
import { concernsRequest, type RequestReason } from "../errors/forbidden.js"
import type { Send } from "../http/send.js"
import * as ServiceResponse from "../http/serviceResponse.js"
import { isOk } from "../http/status.js"
import type { DataSettings } from "../settings/settings.js"
import type { RequestWithoutToken } from "./build.js"
import * as Metrics from "./metrics.js"
import type { RequestContext } from "./runner.js"
import * as SendGate from "./sendGate.js"
import { makeAddHeaders } from "./tokenHeaders.js"

const isReplayable = (body: HttpBody.HttpBody): boolean =>
  body._tag !== "Stream" && (body._tag !== "Raw" || ArrayBuffer.isView(body.body))

/** Whether the status shows that the service has accepted the token. */
const showsAcceptance = (status: number) => isOk(status) || (status >= 400 && status < 500 && status !== 429)

/** Adds the response to the span. A later response replaces it. */
const showOn = ({ span }: RequestContext, response: ServiceResponse.ServiceResponse) => {
  if (span === undefined) return
  span.attribute("http.response.status_code", response.status)
  for (const [name, value] of Object.entries(ServiceResponse.observedHeaders(response))) {
    span.attribute(`http.response.header.${name}`, value)
  }
}

const forbidden = (response: ServiceResponse.ServiceResponse, reason: RequestReason) =>
  new Forbidden({ ...ServiceResponse.fieldsWithBody(response), reason })

const countRejection = (outcome: Metrics.RejectionOutcome) => Effect.sync(() => Metrics.rejections.count({ outcome }))

const rejectionOutcomeOf = (error: NutritionAdvisorError): Metrics.RejectionOutcome => {
  if (concernsRequest(error)) return error.reason
  return error.operation === "token" ? "RenewalFailed" : "RetryFailed"
}

const withRejectionMetric = (renewing: Effect.Effect<ServiceResponse.ServiceResponse, NutritionAdvisorError>) =>
  renewing.pipe(
    Effect.tap(({ status }) => countRejection(showsAcceptance(status) ? "AcceptedAfterRenewal" : "RetryFailed")),
    Effect.tapError((error) => countRejection(rejectionOutcomeOf(error)))
  )

/** Sends data requests with a token. If the token is rejected, renews it and retries the request. */
export const make = (settings: DataSettings, tokens: TokenProvider.Service, send: Send) => {
  const addHeaders = makeAddHeaders(settings)

  const sendOnce = (
    context: RequestContext,
    { body, headers, method, origin, path }: RequestWithoutToken,
    token: AccessToken
  ) => send({ method, origin, path, headers: addHeaders(token, headers), body }, context)

  const hasRejectedStatus = ({ status }: ServiceResponse.ServiceResponse) => settings.rejectedStatuses.has(status)

  /** Renews a token that this response rejects. If the TokenProvider refuses to renew it, adds the response to the error. */
  const renewRejected = (token: AccessToken, response: ServiceResponse.ServiceResponse) =>
    Effect.mapError(
      tokens.renew(token),
      (error) => concernsRequest(error) ? forbidden(response, error.reason) : error
    )

  /**
   * Renews the token and sends the request again, until a response is not a rejection. The loop sees every rejection, including a rejection
   * of the retry. It fails before a renewal that can't help.
   */
  const renewAndSend = (
    context: RequestContext,
    request: RequestWithoutToken,
    rejection: { readonly token: AccessToken; readonly response: ServiceResponse.ServiceResponse }
  ) =>
    Effect.gen(function*() {
      let { response, token } = rejection
      for (let renewals = 0; hasRejectedStatus(response); renewals += 1) {
        // The new token may come from another replica and be rejected as well. The second renewal then exchanges the license key.
        const mayRenew = renewals === 0 || (renewals === 1 && token.isFromPeer)
        if (!mayRenew) return yield* forbidden(response, "RejectedAgain")
        const rejected = token
        const renewed = yield* renewRejected(rejected, response)
        if (!isReplayable(request.body)) return yield* forbidden(response, "BodyNotReplayable")
        // A store that always contains the same token still has the rejected one.
        const current = Effect.map(tokens.get, (stored) => isSame(stored, rejected) ? renewed : stored)
        token = context.gate === undefined ? renewed : yield* SendGate.passWith(renewed, context.gate, current)
        response = yield* sendOnce(context, request, token)
        showOn(context, response)
      }
      return response
    })

  /** Adds a token to a request, sends it, and passes a 2xx response to `onResponse`. */
  return <A, R>(
    context: RequestContext,
    request: RequestWithoutToken,
    onResponse: (response: ServiceResponse.ServiceResponse) => Effect.Effect<A, NutritionAdvisorError, R>
  ): Effect.Effect<A, NutritionAdvisorError, R> => {
    const responseOrError = (response: ServiceResponse.ServiceResponse) =>
      isOk(response.status) ? onResponse(response) : ServiceResponse.statusError(response)
    const sendRenewing = (token: AccessToken) =>
      Effect.flatMap(sendOnce(context, request, token), (response) => {
        showOn(context, response)
        return hasRejectedStatus(response)
          ? Effect.flatMap(withRejectionMetric(renewAndSend(context, request, { token, response })), responseOrError)
          : responseOrError(response)
      })
    const { gate } = context
    const getToken = gate === undefined
      ? tokens.get
      : Effect.flatMap(tokens.get, (token) => SendGate.passWith(token, gate, tokens.get))
    return Effect.flatMap(getToken, sendRenewing)
  }
}
