import * as Effect from "effect/Effect"
import { type AccessToken, isSame } from "../../AccessToken.js"

/** Which token callers use, and when they used it last: a token that nobody uses is not refreshed. */
export class TokenUsage {
  private watched: AccessToken | undefined
  private at = 0

  /** `wake` opens where the refresh loop has a token to look at. */
  constructor(readonly wake: Effect.Latch) {}

  record(token: AccessToken, now: number) {
    this.at = now
    if (token === this.watched || this.isWatched(token)) return
    this.watched = token
    this.wake.unsafeOpen()
  }

  /** A store may give another object at each read. */
  private isWatched(token: AccessToken) {
    return this.watched !== undefined && isSame(token, this.watched) && token.expiresAt === this.watched.expiresAt
  }

  /** Watches this token: only the use of another one wakes the loop. */
  watch(token: AccessToken | undefined) {
    this.watched = token
  }

  /** Whether nothing has used a token for a whole life. A use in the future, because the clock was set back, counts from now. */
  isIdle({ expiresAt, receivedAt }: AccessToken, now: number) {
    this.at = Math.min(this.at, now)
    return now - this.at >= expiresAt - receivedAt
  }
}

export const make: Effect.Effect<TokenUsage> = Effect.map(Effect.makeLatch(), (wake) => new TokenUsage(wake))
