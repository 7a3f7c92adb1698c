import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../AccessToken.js"
import { Forbidden, type ForbiddenReason, type NutritionAdvisorError } from "../NutritionAdvisorError.js"
import type * as TokenProvider from "../TokenProvider.js"
import * as Answer from "./answer.js"
import type * as Deadline from "./deadline.js"
import { HandedOver, InVain, sentAtMost } from "./handedOver.js"
import type * as Http from "./http.js"
import type * as KnownKeys from "./knownKeys.js"
import type { Region } from "./region.js"
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

type Unsent = "Unsent"

const unsent = Effect.succeed<Unsent>("Unsent")

type Conditions<A = never> = Readonly<Record<DataOperation, Http.Conditions<A>>>

interface Written {
  readonly token: AccessToken
  readonly headers: Readonly<Record<string, string>>
  readonly unlessRejected: Conditions<Unsent>
}

/** A request without a token, and the region in which it is made. */
export interface Asked {
  readonly operation: DataOperation
  readonly request: Http.Request
  readonly region: Region
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
  const conditionsWith = <A>(proviso: Http.Proviso<A> | undefined): Conditions<A> => ({
    search: { operation: "search", maxBytes, deadline, proviso },
    request: { operation: "request", maxBytes, deadline, proviso }
  })

  const conditions = conditionsWith<never>(undefined)

  const unsafeIsRejected = tokens.unsafeIsRejected?.bind(tokens)

  let written: Written | undefined

  /** Written once a token. */
  const writtenOf = (token: AccessToken): Written => {
    if (written?.token !== token) {
      written = {
        token,
        headers: {
          authorization: `Bearer ${Redacted.value(token.value)}`,
          [serviceIdHeader]: Redacted.value(token.serviceId)
        },
        unlessRejected: conditionsWith(unsafeIsRejected && { holds: () => !unsafeIsRejected(token), otherwise: unsent })
      }
    }
    return written
  }

  const authorize = (request: Http.Request, { headers }: Written): Http.Request => ({
    method: request.method,
    origin: request.origin,
    path: request.path,
    headers: { ...request.headers, ...headers },
    body: request.body
  })

  const send = ({ operation, region, request }: Asked, token: AccessToken) =>
    client(authorize(request, writtenOf(token)), conditions[operation], region)

  /** Leaves the request unsent where its token was rejected before a connection took it up. */
  const sendUnlessRejected = ({ operation, region, request }: Asked, token: AccessToken) => {
    const written = writtenOf(token)
    const agreed = canSendTwice(request) ? written.unlessRejected : conditions
    return client(authorize(request, written), agreed[operation], region)
  }

  const renew = (asked: Asked, used: AccessToken, status: number) =>
    Effect.catchAll(
      tokens.renew(used),
      (error) =>
        error._tag === "Forbidden" && error.reason !== "KeyRejected"
          ? forbidden(asked.operation, status, error.reason)
          : Effect.zipRight(Telemetry.rejectionEnded("RenewalFailed"), Effect.fail(error))
    )

  /** A renewal that a peer's token answered made no exchange: where that token is rejected too, another follows. */
  const renewAndRetry = (
    asked: Asked,
    used: AccessToken,
    status: number,
    peersSent = 0
  ): Effect.Effect<readonly [Answer.Answer, AccessToken], NutritionAdvisorError> =>
    Effect.gen(function*() {
      const renewed = yield* renew(asked, used, status)
      if (!canSendTwice(asked.request)) return yield* forbidden(asked.operation, status, "BodyNotReplayable")
      const answer = yield* Effect.tapError(send(asked, renewed), () => Telemetry.rejectionEnded("RetryFailed"))
      if (rejected.has(answer.status)) {
        if (renewed instanceof HandedOver && peersSent < sentAtMost) {
          const peers = peersSent + 1 < sentAtMost ? renewed : new InVain(renewed)
          return yield* renewAndRetry(asked, peers, answer.status, peersSent + 1)
        }
        yield* tokens.settled(renewed, "RejectedAgain")
        return yield* forbidden(asked.operation, answer.status, "RejectedAgain")
      }
      if (showsAcceptance(answer.status)) {
        yield* tokens.settled(renewed, "AcceptedAfterRenewal")
        yield* Telemetry.rejectionEnded("AcceptedAfterRenewal")
      } else {
        yield* Telemetry.rejectionEnded("RetryFailed")
      }
      return [answer, renewed] as const
    })

  type Decode<A, R> = (answer: Answer.Answer) => Effect.Effect<A, NutritionAdvisorError, R>

  const finish = <A, R>(
    { operation, region }: Asked,
    decode: Decode<A, R>,
    answer: Answer.Answer,
    used: ReadonlyArray<AccessToken>
  ): Effect.Effect<A, NutritionAdvisorError, R> => {
    region.span?.attribute("http.response.status_code", answer.status)
    return Answer.isOk(answer.status) ? decode(answer) : Effect.flatMap(knownKeys, (keys) => {
      const secrets = [...keys, ...used.flatMap((token) => [token.value, token.serviceId])]
      return Answer.refusal(answer, operation, keys.length === 0 ? Option.none() : Option.some(secrets))
    })
  }

  /** One that was left unsent is sent for good the next time, so that no row of tokens keeps it waiting. */
  const sendFirst = <A, R>(
    asked: Asked,
    decode: Decode<A, R>,
    first: AccessToken,
    sendTo = sendUnlessRejected
  ): Effect.Effect<A, NutritionAdvisorError, R> =>
    Effect.flatMap(sendTo(asked, first), (answer) => {
      if (answer === "Unsent") return Effect.flatMap(tokens.get, (next) => sendFirst(asked, decode, next, send))
      if (rejected.has(answer.status)) {
        return Effect.flatMap(
          renewAndRetry(asked, first, answer.status),
          ([answer, renewed]) => finish(asked, decode, answer, [first, renewed])
        )
      }
      const finished = finish(asked, decode, answer, [first])
      return showsAcceptance(answer.status) ? Effect.zipRight(tokens.settled(first, "Accepted"), finished) : finished
    })

  return <A, R>(asked: Asked, decode: Decode<A, R>): Effect.Effect<A, NutritionAdvisorError, R> => {
    const fresh = tokens.unsafeGet?.(asked.region.clock)
    return fresh === undefined
      ? Effect.flatMap(tokens.get, (first) => sendFirst(asked, decode, first))
      : sendFirst(asked, decode, fresh)
  }
}
