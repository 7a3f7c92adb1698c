import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as AccessToken from "../../AccessToken.js"
import type { TokenError } from "../../NutritionAdvisorError.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { ExchangeRequest, Service as Issuer } from "../../TokenIssuer.js"
import type { Service as Store } from "../../TokenStore.js"
import { inSpan } from "../span.js"
import * as Report from "./report.js"
import { unusable } from "./response.js"

type Token = AccessToken.AccessToken

export interface Options {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly issuer: Issuer
  readonly store: Store
}

/** What an exchange has done so far. */
export interface Progress {
  span: Tracer.Span | undefined
  /** The rejected token, once it is taken out of the store. */
  withdrawn: Token | undefined
}

export interface Exchanged {
  /** The current token now. */
  readonly token: Token
  /** It was in the store already; or what the issuer returned: a peer's token, a new one, the one to be replaced. */
  readonly outcome: "reused" | "shared" | "issued" | "unchanged"
}

/**
 * Of two tokens from a refresh the one that ends later stays, but never one from the future. After a rejection the new one stays. The
 * same token with a later end keeps the time at which it was first received, since its window is a part of its whole life.
 */
const tokenThatStays = (
  { reason }: ExchangeRequest,
  issued: Token,
  current: Option.Option<Token>,
  policy: RefreshPolicy.CheckedPolicy,
  now: number
): Token => {
  if (reason === "rejection" || Option.isNone(current)) return issued
  const held = current.value
  if (AccessToken.stateAt(held, now, policy) === "expired" || held.receivedAt > now) return issued
  if (issued.receivedAt > now || held.expiresAt >= issued.expiresAt) return held
  return AccessToken.isSame(held, issued)
    ? new AccessToken.AccessToken({ ...issued, receivedAt: held.receivedAt })
    : issued
}

/** One exchange of the license key for a token, which goes into the store. While it runs, nobody finds a rejected token there. */
export const exchange = (
  { issuer, policy, store }: Options,
  request: ExchangeRequest,
  progress: Progress
): Effect.Effect<Exchanged, TokenError> =>
  Effect.gen(function*() {
    const { reason, replacing } = request
    const isReplaced = (token: Token) => Option.exists(replacing, (replaced) => AccessToken.isSame(replaced, token))
    const begunAt = yield* Clock.currentTimeMillis
    const held = Option.getOrUndefined(yield* store.current)
    if (held !== undefined && !isReplaced(held) && AccessToken.stateAt(held, begunAt, policy) !== "expired") {
      return { token: held, outcome: "reused" }
    }
    if (reason === "rejection" && held !== undefined && isReplaced(held)) {
      progress.withdrawn = held
      yield* store.invalidate(held)
    }
    yield* Report.begins(request)
    const issued = yield* inSpan("TokenIssuer.issue", { root: true }, (span) => {
      progress.span = span
      return issuer.issue(request)
    })
    const now = yield* Clock.currentTimeMillis
    if (AccessToken.stateAt(issued, now, policy) === "expired") return yield* unusable("expires_in")
    const token = tokenThatStays(request, issued, yield* store.current, policy, now)
    yield* store.put(token)
    return { token, outcome: issued.isFromPeer === true ? "shared" : isReplaced(issued) ? "unchanged" : "issued" }
  })

/**
 * After a failed exchange: the rejected token returns to the store, unless another one has arrived. A 403 is not always about the token,
 * and while no new one can be had, the searches that still work must go on.
 */
export const putBack = ({ store }: Options, progress: Progress): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { withdrawn } = progress
    if (withdrawn !== undefined && Option.isNone(yield* store.current)) yield* store.put(withdrawn)
  })
