import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { AccessToken } from "../../AccessToken.js"
import { Forbidden, type ForbiddenReason, type NutritionAdvisorError } from "../../NutritionAdvisorError.js"
import type * as TokenProvider from "../../TokenProvider.js"
import type { Request } from "../http/bufferedSend.js"
import type { Client } from "../http/client.js"
import type { SendOptions } from "../http/outcome.js"
import * as ResponseData from "../http/response.js"
import type { TimeoutQueue } from "../http/timeoutQueue.js"
import * as Metrics from "../metrics.js"
import { ProviderPart } from "../token/providerPart.js"
import { observe } from "./observedHeaders.js"
import type { RequestScope } from "./scope.js"

type Operation = "search" | "request"

interface Parts {
  readonly tokens: TokenProvider.Service
  readonly client: Client
  readonly timeout: TimeoutQueue
  readonly maxBytes: number
  /** The statuses that mean: this token is no longer accepted. */
  readonly rejectedStatuses: ReadonlySet<number>
  readonly serviceIdHeader: string
  /** Names of the response headers that errors and spans may show. */
  readonly observeHeaders: ReadonlyArray<string>
}

/** A request without a token. */
export interface DataRequest {
  readonly operation: Operation
  readonly request: Request
  readonly scope: RequestScope
}

type Response = ResponseData.ResponseData

type Decode<A, R> = (response: Response) => Effect.Effect<A, NutritionAdvisorError, R>

type OptionsBy<A = never> = Readonly<Record<Operation, SendOptions<A>>>

/** What is sent with one token. */
interface Authorization {
  readonly token: AccessToken
  readonly headers: Readonly<Record<string, string>>
  /** Leaves a request unsent whose token was rejected while it waited for a connection. */
  readonly unlessRejected: OptionsBy<"Unsent">
}

/** Tokens of a shared cache that one request sends, each after the one before it was rejected. */
const cachedTokensSent = 3

/** The first one, those of the cache, and the one of an exchange of its own. */
const tokensOfRequest = 1 + cachedTokensSent + 1

const canSendTwice = ({ body }: Request): boolean =>
  body._tag === "Stream"
    ? false
    : body._tag === "Raw"
    ? typeof body.body === "string" || body.body instanceof Uint8Array || body.body instanceof URLSearchParams
    : true

const isResponse = (response: unknown): response is Response => Predicate.hasProperty(response, "status")

/** An answer that came only after the service had looked at the token. */
const showsAcceptance = (status: number) =>
  ResponseData.isOk(status) || (status >= 400 && status < 500 && status !== 429)

const forbidden = (
  { operation }: DataRequest,
  response: Response,
  reason: Exclude<ForbiddenReason, "KeyRejected">
) =>
  Effect.zipRight(
    Metrics.rejectionEnded(reason),
    Effect.fail(new Forbidden({ operation, ...ResponseData.keep(response), reason }))
  )

/** Sends a data request with a token, renews the token where it is rejected, and sends the request once more. */
class AuthorizedClient {
  private readonly hotPath: ReturnType<typeof ProviderPart.of>
  private readonly options: OptionsBy
  private authorization: Authorization | undefined
  /** The tokens that one request may have been sent with: the service may still name an earlier one. */
  private sent: ReadonlyArray<AccessToken> = []

  constructor(private readonly parts: Parts) {
    this.hotPath = ProviderPart.of(parts.tokens)
    this.options = this.optionsWith<never>(undefined)
  }

  send<A, R>(data: DataRequest, decode: Decode<A, R>): Effect.Effect<A, NutritionAdvisorError, R> {
    const fresh = this.hotPath?.freshToken(data.scope.clock)
    return fresh === undefined
      ? Effect.flatMap(this.parts.tokens.get, (token) => this.sendUnlessRejected(data, decode, token))
      : this.sendUnlessRejected(data, decode, fresh)
  }

  /** A request that was left unsent is sent for good the next time, so that no row of tokens keeps it waiting. */
  private sendUnlessRejected<A, R>(data: DataRequest, decode: Decode<A, R>, token: AccessToken) {
    const authorization = this.authorizationOf(token)
    const options = canSendTwice(data.request) ? authorization.unlessRejected : this.options
    return Effect.flatMap(this.sendWith(data, authorization, options), (response) =>
      response === "Unsent"
        ? Effect.flatMap(this.parts.tokens.get, (next) =>
          Effect.flatMap(this.sendOnce(data, next), (response) => this.settle(data, decode, next, response)))
        : this.settle(data, decode, token, response))
  }

  private settle<A, R>(
    data: DataRequest,
    decode: Decode<A, R>,
    token: AccessToken,
    response: Response
  ): Effect.Effect<A, NutritionAdvisorError, R> {
    if (this.parts.rejectedStatuses.has(response.status)) {
      return Effect.flatMap(this.renewAndSend(data, token, response), (response) => this.finish(data, decode, response))
    }
    const finished = this.finish(data, decode, response)
    return showsAcceptance(response.status)
      ? Effect.zipRight(this.parts.tokens.settled(token, "Accepted"), finished)
      : finished
  }

  /** A token out of a shared cache was no exchange of this process: where it is rejected too, another renewal follows. */
  private renewAndSend(
    data: DataRequest,
    rejected: AccessToken,
    rejection: Response,
    cachedSent = 0
  ): Effect.Effect<Response, NutritionAdvisorError> {
    return Effect.gen(this, function*() {
      const { rejectedStatuses, tokens } = this.parts
      const renewed = yield* this.renew(data, rejected, rejection, cachedSent === cachedTokensSent)
      if (!canSendTwice(data.request)) return yield* forbidden(data, rejection, "BodyNotReplayable")
      const response = yield* Effect.tapError(
        this.sendOnce(data, renewed),
        () => Metrics.rejectionEnded("RetryFailed")
      )
      if (rejectedStatuses.has(response.status)) {
        if (renewed.origin === "cache" && cachedSent < cachedTokensSent) {
          return yield* this.renewAndSend(data, renewed, response, cachedSent + 1)
        }
        yield* tokens.settled(renewed, "RejectedAgain")
        return yield* forbidden(data, response, "RejectedAgain")
      }
      const isAccepted = showsAcceptance(response.status)
      if (isAccepted) yield* tokens.settled(renewed, "AcceptedAfterRenewal")
      yield* Metrics.rejectionEnded(isAccepted ? "AcceptedAfterRenewal" : "RetryFailed")
      return response
    })
  }

  private renew({ operation }: DataRequest, rejected: AccessToken, rejection: Response, mustExchange: boolean) {
    return Effect.tapError(
      this.parts.tokens.renew(rejected, { operation, ...ResponseData.keep(rejection), mustExchange }),
      (error) =>
        Metrics.rejectionEnded(
          error._tag === "Forbidden" && error.reason !== "KeyRejected" ? error.reason : "RenewalFailed"
        )
    )
  }

  private finish<A, R>({ operation, scope }: DataRequest, decode: Decode<A, R>, response: Response) {
    scope.span?.attribute("http.response.status_code", response.status)
    return ResponseData.isOk(response.status) ? decode(response) : ResponseData.statusError(response, operation)
  }

  private sendOnce(data: DataRequest, token: AccessToken) {
    return this.sendWith(data, this.authorizationOf(token), this.options)
  }

  private sendWith<A>(data: DataRequest, authorization: Authorization, options: OptionsBy<A>) {
    const { headers, token } = authorization
    const { operation, request, scope } = data
    scope.isSent = true
    const response = this.parts.client(
      {
        method: request.method,
        origin: request.origin,
        path: request.path,
        headers: { ...request.headers, ...headers },
        body: request.body
      },
      options[operation],
      scope
    )
    return this.parts.observeHeaders.length === 0
      ? response
      : Effect.map(response, (response) => isResponse(response) ? this.observe(data, token, response) : response)
  }

  private observe({ scope }: DataRequest, token: AccessToken, response: Response): Response {
    const observed = observe(this.parts.observeHeaders, response, [token, ...this.sent])
    for (const [name, value] of Object.entries(observed)) scope.span?.attribute(`http.response.header.${name}`, value)
    return { ...response, observed }
  }

  /** Made once a token: the only place where a token is in plain text for longer than its request. */
  private authorizationOf(token: AccessToken): Authorization {
    if (this.authorization?.token !== token) {
      const { hotPath } = this
      this.sent = [...this.sent, token].slice(-tokensOfRequest)
      this.authorization = {
        token,
        headers: {
          authorization: `Bearer ${Redacted.value(token.value)}`,
          [this.parts.serviceIdHeader]: Redacted.value(token.serviceId)
        },
        unlessRejected: this.optionsWith(
          hotPath && { holds: () => !hotPath.isRejected(token), otherwise: Effect.succeed<"Unsent">("Unsent") }
        )
      }
    }
    return this.authorization
  }

  private optionsWith<A>(guard: SendOptions<A>["guard"]): OptionsBy<A> {
    const { maxBytes, timeout } = this.parts
    return {
      search: { operation: "search", maxBytes, timeout, guard },
      request: { operation: "request", maxBytes, timeout, guard }
    }
  }
}

export const make = (parts: Parts): AuthorizedClient => new AuthorizedClient(parts)
