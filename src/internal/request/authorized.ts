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

/** A reason of Forbidden that concerns a request; the other one concerns an exchange. */
type RequestReason = Exclude<ForbiddenReason, "KeyRejected">

const isReplayable = (body: HttpBody.HttpBody): boolean =>
  body._tag !== "Stream" &&
  (body._tag !== "Raw" || typeof body.body === "string" || ArrayBuffer.isView(body.body))

/** An answer that came only after the service had looked at the token. */
const showsAcceptance = (status: number) => Answer.isOk(status) || (status >= 400 && status < 500 && status !== 429)

/**
 * Headers with a token, made once a token, since those of searches without headers of their own are the same: the only place where a
 * token is in plain text for longer than its request.
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

/** An answer that is not 2xx is an error. */
const answerOrError = (run: Run, answer: Answer.Answer) => {
  showOn(run, answer)
  return Answer.isOk(answer.status) ? Effect.succeed(answer) : Answer.statusError(answer)
}

/** Sends a data request with a token, renews the token where it is rejected, and sends the request once more. */
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

  /** The provider knows tokens, and this the response: a renewal that would be pointless is an error of the response. */
  const renew = (rejected: AccessToken, rejection: Answer.Answer) =>
    Effect.catchAll(tokens.renew(rejected), (error): Effect.Effect<never, NutritionAdvisorError> => {
      if (error._tag === "Forbidden" && error.reason !== "KeyRejected") return forbidden(rejection, error.reason)
      Metrics.rejections.count("RenewalFailed")
      return Effect.fail(error)
    })

  /** If a peer's token is rejected as well, one more renewal may still help: it exchanges the key. */
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

  /** The answer to a request without a token. */
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
