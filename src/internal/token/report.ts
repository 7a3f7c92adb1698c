/** What others see of an exchange that ended: metrics and log lines. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type { ExchangeRequest } from "../../TokenIssuer.js"
import * as Metrics from "../metrics.js"
import type { Exchanged } from "./exchange.js"
import { isFromPeer } from "./peerTokens.js"

const messageOf = Option.match<string, TokenError>({
  onNone: () => "The exchange ended in a defect.",
  onSome: ({ message }) => message
})

/** The `_tag` of a failure, and what tells it from others of that tag. */
const labelsOf = Option.match({
  onNone: () => ({ error: "Defect" }),
  onSome: (error: TokenError) => ({
    error: error._tag,
    ...("status" in error && error.status !== undefined) && { status: error.status },
    ..."reason" in error && { reason: error.reason }
  })
})

export const succeeded = (
  { reason }: ExchangeRequest,
  { outcome, token }: Exchanged,
  failuresBefore: number
): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (outcome === "reused") return
    if (!isFromPeer(token)) Metrics.exchanged(reason, outcome)
    Metrics.tokenExpires(token.expiresAt)
    yield* Effect.annotateLogs(Effect.logDebug(`An exchange ended: ${outcome}`), { reason })
    if (failuresBefore === 0) return
    yield* Effect.logInfo(
      `The license key can be exchanged again. Failed exchanges before that: ${failuresBefore}.`
    )
  })

interface Failure {
  readonly cause: Cause.Cause<TokenError>
  readonly retryAt: number
  readonly isServing: boolean
  /** The layer was closed: nobody needs to be warned. */
  readonly isClosed: boolean
}

/** The backoff bounds how many warnings there are. */
export const failed = (
  { reason }: ExchangeRequest,
  { cause, isClosed, isServing, retryAt }: Failure
): Effect.Effect<void> =>
  Effect.gen(function*() {
    Metrics.exchangeFailed(reason, cause)
    yield* Effect.annotateLogs(Effect.logDebug("An exchange failed"), { reason, retryAt })
    if (isClosed) return
    const error = Cause.failureOption(cause)
    const effect = isServing ? "The current token is used until it expires" : "There is no usable token"
    const next = `the next try is not before ${new Date(retryAt).toISOString()}`
    yield* Effect.annotateLogs(
      Effect.logWarning(`The license key could not be exchanged. ${messageOf(error)} ${effect}; ${next}.`),
      { ...labelsOf(error), retryAt }
    )
  })
