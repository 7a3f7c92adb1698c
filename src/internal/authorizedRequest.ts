import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Tracer from "effect/Tracer"
import type { AccessToken } from "../AccessToken.js"
import { Forbidden, type ForbiddenReason, type NutritionAdvisorError } from "../NutritionAdvisorError.js"
import type * as TokenProvider from "../TokenProvider.js"
import type * as Deadline from "./deadline.js"
import { HandedOver, InVain, sentAtMost } from "./handedOver.js"
import * as Http from "./http.js"
import type * as KnownKeys from "./knownKeys.js"
import * as Telemetry from "./telemetry.js"

type DataOperation = "search" | "request"

export interface Parts {
  readonly tokens: TokenProvider.Service
  readonly client: Http.Client
  readonly deadline: Deadline.Deadline
  readonly knownKeys: KnownKeys.KnownKeys
  readonly maxBytes: number
  /** The statuses that mean: this token is no longer accepted. */
  readonly rejected: ReadonlySet<number>
  readonly serviceIdHeader: string
}

/** What is asked for, and by whom. */
export interface Task<A, R = never> {
  readonly operation: DataOperation
  readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
  readonly span: Tracer.Span | undefined
  readonly decode: (answer: Http.Answer) => Effect.Effect<A, NutritionAdvisorError, R>
}

const canSendTwice = ({ body }: Http.Request): boolean =>
  body._tag === "Stream"
    ? false
    : body._tag === "Raw"
    ? typeof body.body === "string" || body.body instanceof Uint8Array || body.body instanceof URLSearchParams
    : true

/** An answer that came only after the token was looked at. */
const showsAcceptance = (status: number) =>
  (status >= 200 && status < 300) || (status >= 400 && status < 500 && status !== 429)

const forbidden = (operation: DataOperation, status: number, reason: Exclude<ForbiddenReason, "KeyRejected">) =>
  Effect.zipRight(Telemetry.rejectionEnded(reason), Effect.fail(new Forbidden({ operation, status, reason })))

/** Sends a request with a token, renews the token where it is rejected, and sends the request once more. */
export const authorizedRequest = (
  { client, deadline, knownKeys, maxBytes, rejected, serviceIdHeader, tokens }: Parts
) => {
  const limits: Readonly<Record<DataOperation, Http.Limits>> = {
    search: { operation: "search", maxBytes, deadline },
    request: { operation: "request", maxBytes, deadline }
  }

  const authorize = (request: Http.Request, token: AccessToken): Http.Request => ({
    method: request.method,
    url: request.url,
    headers: {
      ...request.headers,
      authorization: `Bearer ${Redacted.value(token.value)}`,
      [serviceIdHeader]: Redacted.value(token.serviceId)
    },
    body: request.body
  })

  const send = (operation: DataOperation, request: Http.Request, token: AccessToken) =>
    client(authorize(request, token), limits[operation])

  const renewAndSend = (operation: DataOperation, request: Http.Request, used: AccessToken, status: number) =>
    Effect.gen(function*() {
      const renewed = yield* Effect.catchAll(
        tokens.renew(used),
        (error) =>
          error._tag === "Forbidden" && error.reason !== "KeyRejected"
            ? forbidden(operation, status, error.reason)
            : Effect.zipRight(Telemetry.rejectionEnded("RenewalFailed"), Effect.fail(error))
      )
      if (!canSendTwice(request)) return yield* forbidden(operation, status, "BodyNotReplayable")
      return [yield* send(operation, request, renewed), renewed] as const
    })

  /** A renewal that a peer's token answered made no exchange: where that token is rejected too, another follows. */
  const renewAndRetry = (
    operation: DataOperation,
    request: Http.Request,
    used: AccessToken,
    status: number,
    peersSent = 0
  ): Effect.Effect<readonly [Http.Answer, AccessToken], NutritionAdvisorError> =>
    Effect.gen(function*() {
      const [answer, renewed] = yield* renewAndSend(operation, request, used, status)
      if (rejected.has(answer.status)) {
        if (renewed instanceof HandedOver && peersSent < sentAtMost) {
          const peers = peersSent + 1 < sentAtMost ? renewed : new InVain(renewed)
          return yield* renewAndRetry(operation, request, peers, answer.status, peersSent + 1)
        }
        yield* tokens.settled(renewed, "RejectedAgain")
        return yield* forbidden(operation, answer.status, "RejectedAgain")
      }
      if (showsAcceptance(answer.status)) {
        yield* tokens.settled(renewed, "AcceptedAfterRenewal")
        yield* Telemetry.rejectionEnded("AcceptedAfterRenewal")
      }
      return [answer, renewed] as const
    })

  const finish = <A, R>(
    { decode, operation, span }: Task<A, R>,
    answer: Http.Answer,
    used: ReadonlyArray<AccessToken>
  ): Effect.Effect<A, NutritionAdvisorError, R> => {
    span?.attribute("http.response.status_code", answer.status)
    return Http.isOk(answer.status) ? decode(answer) : Effect.flatMap(knownKeys, (keys) => {
      const secrets = [...keys, ...used.flatMap((token) => [token.value, token.serviceId])]
      return Http.refusal(answer, operation, keys.length === 0 ? Option.none() : Option.some(secrets))
    })
  }

  const sendFirst = <A, R>(
    task: Task<A, R>,
    request: Http.Request,
    first: AccessToken
  ): Effect.Effect<A, NutritionAdvisorError, R> =>
    Effect.flatMap(send(task.operation, request, first), (answer) => {
      if (rejected.has(answer.status)) {
        return Effect.flatMap(
          renewAndRetry(task.operation, request, first, answer.status),
          ([answer, renewed]) => finish(task, answer, [first, renewed])
        )
      }
      const settled = showsAcceptance(answer.status) ? tokens.settled(first, "Accepted") : Effect.void
      const finished = finish(task, answer, [first])
      return settled === Effect.void ? finished : Effect.zipRight(settled, finished)
    })

  return <A, R>(task: Task<A, R>, request: Http.Request): Effect.Effect<A, NutritionAdvisorError, R> => {
    const fresh = tokens.unsafeGet?.(Context.get(task.fiber.currentDefaultServices, Clock.Clock))
    return fresh === undefined
      ? Effect.flatMap(tokens.get, (first) => sendFirst(task, request, first))
      : sendFirst(task, request, fresh)
  }
}
