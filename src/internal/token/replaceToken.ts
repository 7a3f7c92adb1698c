import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { AccessToken, isSame, isUsable } from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest, Service as Issuer } from "../../TokenIssuer.js"
import type { Service as Store } from "../../TokenStore.js"
import { inSpan } from "../telemetry/span.js"
import { invalidResponse } from "./formats.js"
import * as Report from "./report.js"

export interface Options {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly issuer: Issuer
  readonly store: Store
}

/** What an exchange is for, and what it has done so far. `replaceToken` sets the last two fields while it runs. */
export interface Exchange {
  readonly request: ExchangeRequest
  span?: Tracer.Span | undefined
  /** The rejected token, if it was invalidated. `putBack` needs it if the exchange fails or times out, and then there is no result. */
  invalidated?: AccessToken
}

export interface Replacement {
  /** The token that is in the store now. */
  readonly token: AccessToken
  readonly outcome: Report.Outcome
}

/**
 * Chooses which token to store if the current one was not rejected: the one that expires later, but not one whose `receivedAt` is in the
 * future. If the same token comes back with a later expiry, it keeps its first `receivedAt`, because the window is a share of the whole
 * lifetime.
 */
const tokenToStore = (
  issued: AccessToken,
  current: Option.Option<AccessToken>,
  policy: RefreshPolicy.CheckedPolicy,
  now: number
): AccessToken => {
  if (Option.isNone(current)) return issued
  const stored = current.value
  if (!isUsable(stored, now, policy) || stored.receivedAt > now) return issued
  if (issued.receivedAt > now || stored.expiresAt >= issued.expiresAt) return stored
  return isSame(stored, issued)
    ? new AccessToken({ ...issued, receivedAt: stored.receivedAt })
    : issued
}

const issue = (issuer: Issuer, exchange: Exchange): Effect.Effect<AccessToken, TokenError> =>
  Effect.withFiberRuntime((fiber) =>
    inSpan(fiber, "TokenIssuer.issue", () => ({ root: true }), (span) => {
      exchange.span = span
      return issuer.issue(exchange.request)
    })
  )

/** Gets a token from the issuer and stores it. Invalidates a rejected token first, so that no call sends it in the meantime. */
export const replaceToken = (
  { issuer, policy, store }: Options,
  exchange: Exchange
): Effect.Effect<Replacement, TokenError> =>
  Effect.gen(function*() {
    const { request } = exchange
    const { reason, replacing } = request
    const isReplaced = (token: AccessToken) => Option.exists(replacing, (replaced) => isSame(replaced, token))
    const startedAt = yield* Clock.currentTimeMillis
    const stored = Option.getOrUndefined(yield* store.current)
    if (stored !== undefined && !isReplaced(stored) && isUsable(stored, startedAt, policy)) {
      return { token: stored, outcome: "reused" }
    }
    if (reason === "rejection" && stored !== undefined && isReplaced(stored)) {
      exchange.invalidated = stored
      yield* store.invalidate(stored)
    }
    yield* Report.logStart(request)
    const issued = yield* issue(issuer, exchange)
    const now = yield* Clock.currentTimeMillis
    if (!isUsable(issued, now, policy)) return yield* invalidResponse("expires_in")
    const token = reason === "rejection" ? issued : tokenToStore(issued, yield* store.current, policy, now)
    yield* store.put(token)
    if (issued.isFromPeer) return { token, outcome: "fromPeer" }
    return { token, outcome: isReplaced(issued) ? "unchanged" : "issued" }
  })

/**
 * Puts the rejected token back into the store after a failed renewal, unless another token has arrived. A 403 isn't always about the
 * token, so calls that still work with it must continue while the token route is down.
 */
export const putBack = (store: Store, exchange: Exchange): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { invalidated } = exchange
    if (invalidated !== undefined && Option.isNone(yield* store.current)) yield* store.put(invalidated)
  })
