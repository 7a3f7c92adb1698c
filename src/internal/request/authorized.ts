import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import {
  Forbidden,
  type ForbiddenReason,
  isNutritionAdvisorError,
  type NutritionAdvisorError
} from "../../NutritionAdvisorError.js"
import type * as TokenProvider from "../../TokenProvider.js"
import * as ForeignPart from "../foreignPart.js"
import type { Client } from "../http/client.js"
import type { Request, SendOptions } from "../http/request.js"
import * as Response from "../http/response.js"
import type { TimeoutQueue } from "../http/timeoutQueue.js"
import * as Metrics from "../metrics.js"
import type { DataSettings } from "../settings.js"
import { ProviderPart } from "../token/providerPart.js"
import { observe } from "./observedHeaders.js"
import type { RequestRun } from "./run.js"

type Operation = "search" | "request"

type Tokens = Omit<TokenProvider.Service, "status">

interface Parts extends DataSettings {
  readonly tokens: TokenProvider.Service
  readonly client: Client
  readonly timeout: TimeoutQueue
}

/** A request without a token. */
export interface DataRequest {
  readonly operation: Operation
  readonly request: Request
  readonly run: RequestRun
}

type Answer = Response.Response

type Decode<A, R> = (response: Answer) => Effect.Effect<A, NutritionAdvisorError, R>

/** What is sent with one token and the headers of a request. */
interface Authorization {
  readonly token: AccessToken
  readonly given: Request["headers"]
  readonly headers: Request["headers"]
}

/** Tokens of a shared cache that one request sends, each after the one before it was rejected. */
const cachedTokensSent = 3

/** Tokens that were used last, which the service may still name where a search is repeated. */
const tokensKept = 5

const canSendTwice = ({ body }: Request): boolean =>
  body._tag === "Stream"
    ? false
    : body._tag === "Raw"
    ? typeof body.body === "string" || body.body instanceof Uint8Array || body.body instanceof URLSearchParams
    : true

/** An answer that came only after the service had looked at the token. */
const showsAcceptance = (status: number) => Response.isOk(status) || (status >= 400 && status < 500 && status !== 429)

const forbidden = (
  { operation }: DataRequest,
  response: Answer,
  reason: Exclude<ForbiddenReason, "KeyRejected">
) =>
  Effect.zipRight(
    Metrics.rejections.count({ outcome: reason }),
    Effect.fail(new Forbidden({ operation, ...Response.keep(response), reason }))
  )

const call = <A, E>(effect: () => Effect.Effect<A, E>) =>
  ForeignPart.callApart("The TokenProvider", isNutritionAdvisorError, effect)

/** A TokenProvider of the user's without what it dies of. */
const guarded = (tokens: TokenProvider.Service): Tokens => ({
  get: call(() => tokens.get),
  renew: (...rejection) => call(() => tokens.renew(...rejection)),
  settled: (...use) => call(() => tokens.settled(...use))
})

/** Sends a data request with a token, renews the token where it is rejected, and sends the request once more. */
class AuthorizedClient {
  private readonly hotPath: ReturnType<typeof ProviderPart.of>
  private readonly tokens: Tokens
  private readonly options: Readonly<Record<Operation, SendOptions>>
  private authorization: Authorization | undefined
  private used: ReadonlyArray<AccessToken> = []

  constructor(private readonly parts: Parts) {
    this.hotPath = ProviderPart.of(parts.tokens)
    this.tokens = this.hotPath === undefined ? guarded(parts.tokens) : parts.tokens
    const { maxBytes, timeout } = parts
    this.options = {
      search: { operation: "search", maxBytes, timeout },
      request: { operation: "request", maxBytes, timeout }
    }
  }

  send<A, R>(data: DataRequest, decode: Decode<A, R>): Effect.Effect<A, NutritionAdvisorError, R> {
    const fresh = this.hotPath?.freshToken(data.run.clock)
    return fresh === undefined
      ? Effect.flatMap(this.tokens.get, (token) => this.sendWith(data, decode, token))
      : this.sendWith(data, decode, fresh)
  }

  /** A request that waited for a connection while its token was rejected begins anew: it would be rejected, and delay the exchange. */
  private sendWith<A, R>(
    data: DataRequest,
    decode: Decode<A, R>,
    token: AccessToken,
    mayBeginAnew = canSendTwice(data.request)
  ): Effect.Effect<A, NutritionAdvisorError, R> {
    const { hotPath } = this
    let isUnsent = false
    const mayStart = () => {
      isUnsent = hotPath?.isRejected(token) === true
      return !isUnsent
    }
    return Effect.matchEffect(this.sendOnce(data, token, mayBeginAnew ? mayStart : undefined), {
      onFailure: (error) =>
        isUnsent
          ? Effect.flatMap(this.tokens.get, (token) => this.sendWith(data, decode, token, false))
          : Effect.fail(error),
      onSuccess: (response) => this.settle(data, decode, token, response)
    })
  }

  private settle<A, R>(
    data: DataRequest,
    decode: Decode<A, R>,
    token: AccessToken,
    response: Answer
  ): Effect.Effect<A, NutritionAdvisorError, R> {
    if (this.parts.rejectedStatuses.has(response.status)) {
      const answer = this.renewAndSend(data, token, response)
      return Effect.flatMap(answer, (response) => this.finish(data, decode, token, response))
    }
    const finished = this.finish(data, decode, token, response)
    return showsAcceptance(response.status)
      ? Effect.zipRight(this.tokens.settled(token, "Accepted"), finished)
      : finished
  }

  /** A token out of a shared cache was no exchange of this process: where it is rejected too, another renewal follows. */
  private renewAndSend(
    data: DataRequest,
    rejected: AccessToken,
    rejection: Answer,
    earlier: ReadonlyArray<AccessToken> = []
  ): Effect.Effect<Answer, NutritionAdvisorError> {
    return Effect.gen(this, function*() {
      const { rejectedStatuses } = this.parts
      const renewed = yield* this.renew(data, rejected, rejection, earlier.length === cachedTokensSent)
      if (!canSendTwice(data.request)) return yield* forbidden(data, rejection, "BodyNotReplayable")
      const sent = [...earlier, rejected]
      data.run.sent = [...sent, renewed]
      const response = yield* Effect.tapError(
        this.sendOnce(data, renewed),
        () => Metrics.rejections.count({ outcome: "RetryFailed" })
      )
      if (rejectedStatuses.has(response.status)) {
        if (renewed.origin === "cache" && earlier.length < cachedTokensSent) {
          return yield* this.renewAndSend(data, renewed, response, sent)
        }
        yield* this.tokens.settled(renewed, "RejectedAgain")
        return yield* forbidden(data, response, "RejectedAgain")
      }
      const isAccepted = showsAcceptance(response.status)
      if (isAccepted) yield* this.tokens.settled(renewed, "AcceptedAfterRenewal")
      yield* Metrics.rejections.count({ outcome: isAccepted ? "AcceptedAfterRenewal" : "RetryFailed" })
      return response
    })
  }

  private renew({ operation }: DataRequest, rejected: AccessToken, rejection: Answer, mustExchange: boolean) {
    return Effect.tapError(
      this.tokens.renew(rejected, { operation, ...Response.keep(rejection), mustExchange }),
      (error) =>
        Metrics.rejections.count({
          outcome: error._tag === "Forbidden" && error.reason !== "KeyRejected" ? error.reason : "RenewalFailed"
        })
    )
  }

  private finish<A, R>({ operation, run }: DataRequest, decode: Decode<A, R>, token: AccessToken, response: Answer) {
    run.span?.attribute("http.response.status_code", response.status)
    return Response.isOk(response.status)
      ? decode(response)
      : Response.statusError(response, operation, this.secretsOf(run, token))
  }

  /** What an answer may repeat: the request's own tokens, and the last ones of the client, which a search before a repetition had. */
  private secretsOf({ sent = [] }: RequestRun, token: AccessToken) {
    return [token, ...sent, ...this.used].flatMap(({ serviceId, value }) => [value, serviceId])
  }

  private sendOnce(data: DataRequest, token: AccessToken, mayStart?: () => boolean) {
    const { operation, request, run } = data
    run.isSent = true
    const response = this.parts.client(
      // Field by field: a spread of the request takes half a microsecond more.
      {
        method: request.method,
        origin: request.origin,
        path: request.path,
        headers: { ...this.headersOf(token, request.headers) },
        body: request.body,
        mayStart
      },
      this.options[operation],
      run
    )
    return this.parts.observeHeaders.length === 0
      ? response
      : Effect.map(response, (response) => this.observe(data, token, response))
  }

  private observe({ run }: DataRequest, token: AccessToken, response: Answer): Answer {
    const observed = observe(this.parts.observeHeaders, response, this.secretsOf(run, token))
    for (const [name, value] of Object.entries(observed)) run.span?.attribute(`http.response.header.${name}`, value)
    return { ...response, observed }
  }

  /**
   * Made once a token for searches without headers of their own, which have the same ones: the only place where a token is in plain text
   * for longer than its request.
   */
  private headersOf(token: AccessToken, given: Request["headers"]) {
    if (this.used.at(-1) !== token) this.used = [...this.used, token].slice(-tokensKept)
    if (this.authorization?.token !== token || this.authorization.given !== given) {
      this.authorization = {
        token,
        given,
        headers: {
          ...given,
          authorization: `Bearer ${Redacted.value(token.value)}`,
          [this.parts.serviceIdHeader]: Redacted.value(token.serviceId)
        }
      }
    }
    return this.authorization.headers
  }
}

export const make = (parts: Parts): AuthorizedClient => new AuthorizedClient(parts)
