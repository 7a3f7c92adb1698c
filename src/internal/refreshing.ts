import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as AccessToken from "../AccessToken.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import type * as TokenStore from "../TokenStore.js"

/** Which token callers use, and when they used it last: a token that nobody uses is not refreshed. */
export class Use {
  private tended: AccessToken.AccessToken | undefined
  private at = 0

  /** The latch opens where there is a token to look at. */
  constructor(readonly unseen: Effect.Latch) {}

  note(token: AccessToken.AccessToken, now: number) {
    this.at = now
    if (token === this.tended) return
    this.tended = token
    this.unseen.unsafeOpen()
  }

  /** From then on the use of this token is no news, that of another is. */
  tend(token: AccessToken.AccessToken | undefined) {
    this.tended = token
  }

  /** A use that lies in the future, because the clock was set back, counts from now. */
  isIdle({ expiresAt, receivedAt }: AccessToken.AccessToken, now: number) {
    this.at = Math.min(this.at, now)
    return now - this.at >= expiresAt - receivedAt
  }
}

export const unused: Effect.Effect<Use> = Effect.map(Effect.makeLatch(), (unseen) => new Use(unseen))

interface Parts {
  readonly use: Use
  readonly store: TokenStore.Service
  readonly timing: RefreshPolicy.Timing
  /** How long failures hold back the next exchange, in milliseconds. */
  readonly heldBack: Effect.Effect<(clock: Clock.Clock) => number>
  /** Refreshes the token, or finds out that it can't. */
  readonly refresh: (token: AccessToken.AccessToken) => Effect.Effect<unknown>
}

/** Refreshes each token before its expiry, as the Schedule says, for as long as it is used. */
export const refreshing = ({ heldBack, refresh, store, timing, use }: Parts): Effect.Effect<void> => {
  const { unseen } = use

  const schedule = timing.schedule ?? RefreshPolicy.beforeExpiry(timing)

  const wait = (remaining: (clock: Clock.Clock) => number): Effect.Effect<void> =>
    Effect.clockWith((clock) => {
      const millis = remaining(clock)
      return millis <= 0
        ? Effect.void
        : Effect.zipRight(Effect.sleep(Math.ceil(Math.min(millis, timing.step))), wait(remaining))
    })

  const due = (token: AccessToken.AccessToken, at: number) => (clock: Clock.Clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    return now < token.receivedAt ? 0 : at - now
  }

  const isDue = (token: AccessToken.AccessToken, now: number) =>
    timing.schedule !== undefined || AccessToken.stateAt(token, now, timing) !== "fresh"

  return Effect.gen(function*() {
    const clock = yield* Effect.clock
    let driver: unknown = schedule.initial
    while (true) {
      yield* unseen.await
      unseen.unsafeClose()
      let current = yield* store.current
      while (Option.isSome(current)) {
        const token = current.value
        use.tend(token)
        const [next, , decision] = yield* schedule.step(clock.unsafeCurrentTimeMillis(), token, driver)
        if (ScheduleDecision.isDone(decision)) return
        driver = next
        /** Not a race: effect 3 can lose the two fibers of one that is interrupted just as it begins, and wait for them for ever. */
        let isOver = false
        const alarm = yield* Effect.fork(
          wait(due(token, ScheduleIntervals.start(decision.intervals))).pipe(
            Effect.zipRight(Effect.flatMap(heldBack, wait)),
            Effect.zipRight(Effect.sync(() => {
              isOver = true
              unseen.unsafeOpen()
            }))
          )
        )
        yield* unseen.await
        if (!isOver) {
          yield* Fiber.interrupt(alarm)
          break
        }
        unseen.unsafeClose()
        const now = clock.unsafeCurrentTimeMillis()
        if (use.isIdle(token, now)) {
          use.tend(undefined)
          break
        }
        current = yield* store.current
        if (Option.isSome(current) && isDue(current.value, now)) {
          yield* refresh(current.value)
          current = yield* store.current
        }
      }
    }
  })
}
