import type * as HttpBody from "@effect/platform/HttpBody"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import { Forbidden, type ForbiddenReason, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type * as TokenProvider from "../../TokenProvider.js"
import * as Answer from "../http/answer.js"
import type { Send } from "../http/client.js"
import type { Request } from "../http/dispatch.js"
import * as Metrics from "../metrics.js"
import type { DataSettings } from "../settings.js"
import type { Run } from "./run.js"
import * as SendGate from "./sendGate.js"

interface Options extends DataSettings {
  readonly tokens: TokenProvider.Service
  readonly send: Send
}

type Headers = Request["headers"]

/** The reasons of a Forbidden that belong to a request. "KeyRejected" belongs to an exchange. */
type RequestReason = Exclude<ForbiddenReason, "KeyRejected">

const isReplayable = (body: HttpBody.HttpBody): boolean =>
  body._tag !== "Stream" &&
  (body._tag !== "Raw" || typeof body.body === "string" || ArrayBuffer.isView(body.body))

/** Whether the status shows that the service has accepted the token. */
const showsAcceptance = (status: number) => Answer.isOk(status) || (status >= 400 && status < 500 && status !== 429)

/**
 * Adds the token to the headers of a request. The result is kept, because all searches without custom headers share it. No other place
 * keeps a token in plain text for longer than its request.
 */
const makeHeadersOf = ({ serviceIdHeader }: DataSettings) => {
  let last: { readonly token: AccessToken; readonly given: Headers; readonly headers: Headers } | undefined
  return (token: AccessToken, given: Headers) => {
    if (last?.token !== token || last.given !== given) {
      const headers = {
        ...given,
        authorization: `Bearer ${Redacted.value(token.value)}`,
        [serviceIdHeader]: Redacted.value(token.serviceId)
      }
      last = { token, given, headers }
    }
    return last.headers
  }
}

/** The span shows the last response, a rejection included. */
const showOn = ({ span }: Run, answer: Answer.Answer) => {
  if (span === undefined) return
  span.attribute("http.response.status_code", answer.status)
  for (const [name, value] of Object.entries(Answer.observed(answer))) {
    span.attribute(`http.response.header.${name}`, value)
  }
}

/** Fails if the status is not 2xx. */
const answerOrError = (run: Run, answer: Answer.Answer) => {
  showOn(run, answer)
  return Answer.isOk(answer.status) ? Effect.succeed(answer) : Answer.statusError(answer)
}

/** Sends data requests with a token. If the token is rejected, renews it and retries the request. */
export const make = ({ send, tokens, ...settings }: Options) => {
  const { maxBytes, observeHeaders, rejectedStatuses } = settings
  const kinds: Record<Answer.DataOperation, Answer.Kind> = {
    search: { operation: "search", maxBytes, observeHeaders },
    request: { operation: "request", maxBytes, observeHeaders }
  }

  const headersOf = makeHeadersOf(settings)

  const sendOnce = (run: Run, request: Request, token: AccessToken) => {
    run.isSent = true
    const { body, method, origin, path } = request
    return send({ method, origin, path, headers: headersOf(token, request.headers), body }, kinds[run.operation], run)
  }

  const forbidden = (rejection: Answer.Answer, reason: RequestReason) =>
    Effect.suspend(() => {
      Metrics.rejections.count(reason)
      return new Forbidden({ ...Answer.fieldsWithBody(rejection), reason })
    })

  /** The provider doesn't know the response, so the error of a pointless renewal is created here, with status and body. */
  const renew = (rejected: AccessToken, rejection: Answer.Answer) =>
    Effect.catchAll(tokens.renew(rejected), (error): Effect.Effect<never, NutritionAdvisorError> => {
      if (error._tag === "Forbidden" && error.reason !== "KeyRejected") return forbidden(rejection, error.reason)
      Metrics.rejections.count("RenewalFailed")
      return Effect.fail(error)
    })

  /** If the new token comes from another replica and is rejected too, renews once more. That renewal exchanges the license key. */
  const renewAndSend = (
    run: Run,
    request: Request,
    rejected: AccessToken,
    rejection: Answer.Answer,
    mayRenewAgain = true
  ): Effect.Effect<Answer.Answer, NutritionAdvisorError> =>
    Effect.gen(function*() {
      showOn(run, rejection)
      const renewed = yield* renew(rejected, rejection)
      if (!isReplayable(request.body)) return yield* forbidden(rejection, "BodyNotReplayable")
      const answer = yield* Effect.tapError(
        Effect.zipRight(SendGate.pass, Effect.suspend(() => sendOnce(run, request, renewed))),
        () => Effect.sync(() => Metrics.rejections.count("RetryFailed"))
      )
      if (rejectedStatuses.has(answer.status)) {
        showOn(run, answer)
        return yield* mayRenewAgain && renewed.isFromPeer === true
          ? renewAndSend(run, request, renewed, answer, false)
          : forbidden(answer, "RejectedAgain")
      }
      Metrics.rejections.count(showsAcceptance(answer.status) ? "AcceptedAfterRenewal" : "RetryFailed")
      return answer
    })

  const getToken = SendGate.passWith(tokens.get)

  /** Takes a request without a token, and returns the 2xx response. */
  return (run: Run, request: Request): Effect.Effect<Answer.Answer, NutritionAdvisorError> =>
    Effect.flatMap(
      getToken,
      (token) =>
        Effect.flatMap(sendOnce(run, request, token), (answer) =>
          rejectedStatuses.has(answer.status)
            ? Effect.flatMap(renewAndSend(run, request, token, answer), (last) => answerOrError(run, last))
            : answerOrError(run, answer))
    )
}
