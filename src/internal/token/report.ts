/** The metrics and log lines of an exchange. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AccessToken } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import { failureLabels } from "../telemetry/metrics.js"
import * as Metrics from "./metrics.js"

/** Annotations cost much more than a line that no logger writes, so they wait until the level is known. */
const debug = (message: string, { reason }: ExchangeRequest) =>
  Effect.asVoid(Effect.whenLogLevel(Effect.annotateLogs(Effect.logDebug(message), { reason }), "Debug"))

export const logStart = (request: ExchangeRequest): Effect.Effect<void> => debug("An exchange begins", request)

/**
 * `reused`: the store already had a usable token, so no exchange was needed. Otherwise, what the issuer returned: a peer's token
 * (`fromPeer`), a new one (`issued`), or the token that should be replaced (`unchanged`).
 */
export type Outcome = "reused" | "fromPeer" | "issued" | "unchanged"

export const recordSuccess = (
  request: ExchangeRequest,
  { outcome, token }: { readonly outcome: Outcome; readonly token: AccessToken },
  failuresBefore: number
): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (outcome === "reused") return
    if (outcome !== "fromPeer") Metrics.exchanges.count({ reason: request.reason, outcome, error: "none" })
    Metrics.setExpiry(token.expiresAt / 1000)
    yield* debug(`An exchange ended: ${outcome}`, request)
    if (failuresBefore === 0) return
    yield* Effect.logInfo(`The client has a new token. Failed token exchanges before it: ${failuresBefore}.`)
  })

/** The message of a failure, and the labels that identify it in the log. */
const described = Option.match({
  onNone: () => ({ message: "The exchange failed with a defect in your own code.", labels: { error: "Defect" } }),
  onSome: (error: TokenError) => ({
    message: error.message,
    labels: {
      error: error._tag,
      ...("status" in error && error.status !== undefined) && { status: error.status },
      ..."reason" in error && { reason: error.reason }
    }
  })
})

interface FailedExchange {
  readonly cause: Cause.Cause<TokenError>
  /** The end of the backoff, in epoch milliseconds. */
  readonly retryAt: number
  /** Whether callers still get a token: the current one, or after a rejection, the rejected one. */
  readonly hasToken: boolean
}

const consequenceOf = ({ reason }: ExchangeRequest, hasToken: boolean) => {
  if (!hasToken) return "There is no usable token"
  return reason === "rejection"
    ? "The rejected token is sent again, in case the rejection was not about the token"
    : "The current token is used until it expires"
}

/** Logs a warning for each failed exchange. The backoff limits how many there are. */
export const recordFailure = (
  request: ExchangeRequest,
  { cause, hasToken, retryAt }: FailedExchange
): Effect.Effect<void> =>
  Effect.suspend(() => {
    Metrics.exchanges.count({ reason: request.reason, outcome: "failed", error: failureLabels(cause).outcome })
    const { labels, message } = described(Cause.failureOption(cause))
    const consequence = consequenceOf(request, hasToken)
    const when = new Date(retryAt).toISOString()
    const warning = `The license key could not be exchanged. ${message} ${consequence}. ` +
      `The next exchange starts at ${when} at the earliest.`
    return Effect.annotateLogs(Effect.logWarning(warning), { ...labels, retryAt })
  })
