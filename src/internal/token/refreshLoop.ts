import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as AccessToken from "../../AccessToken.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type * as TokenStore from "../../TokenStore.js"
import type { Moment } from "../clock.js"
import { momentOf, wallOf } from "../clock.js"
import * as ScheduleDriver from "./scheduleDriver.js"
import type { TokenUsage } from "./usage.js"

interface Parts {
  readonly usage: TokenUsage
  readonly store: TokenStore.Service
  readonly policy: RefreshPolicy.Timing
  /** How long an earlier exchange delays the next refresh, in milliseconds. */
  readonly refreshDelay: (now: Moment) => number
  /** Refreshes the token, or finds out that it can't. */
  readonly refresh: (token: AccessToken.AccessToken) => Effect.Effect<unknown>
}

/** Waits in steps of at most `step`, and looks at the clock after each: a machine may have slept, or its clock been set. */
const waitFor = (remaining: (clock: Clock.Clock) => number, step: number): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    const millis = remaining(clock)
    return millis <= 0
      ? Effect.void
      : Effect.zipRight(Effect.sleep(Math.ceil(Math.min(millis, step))), waitFor(remaining, step))
  })

/** Refreshes each token before its expiry, as the Schedule says, for as long as it is used. */
export const refreshLoop = ({ policy, refresh, refreshDelay, store, usage }: Parts): Effect.Effect<void> => {
  const { wake } = usage

  const next = ScheduleDriver.make(policy.schedule ?? RefreshPolicy.beforeExpiry(policy))

  const isDue = (token: AccessToken.AccessToken, now: number) =>
    policy.schedule !== undefined || AccessToken.stateAt(token, now, policy) !== "fresh"

  const untilDue = (token: AccessToken.AccessToken, at: number) => (clock: Clock.Clock) =>
    wallOf(clock) < token.receivedAt ? 0 : at - wallOf(clock)

  /**
   * Whether the time came before the use of another token. Not a race: effect 3 can lose the two fibers of a race that is
   * interrupted just as it begins, and wait for them for ever. The timer is interrupted by hand: a layer that was built beside
   * others hands on where its fibers fork, and a timer forked there would outlive the loop.
   */
  const waitUntil = (token: AccessToken.AccessToken, at: number) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        let isTime = false
        const timer = yield* waitFor(untilDue(token, at), policy.step).pipe(
          Effect.zipRight(waitFor((clock) => refreshDelay(momentOf(clock)), policy.step)),
          Effect.zipRight(Effect.sync(() => {
            isTime = true
            wake.unsafeOpen()
          })),
          Effect.interruptible,
          Effect.fork
        )
        yield* Effect.onInterrupt(restore(wake.await), () => Fiber.interrupt(timer))
        if (!isTime) yield* Fiber.interrupt(timer)
        return isTime
      })
    )

  /** Refreshes the token and those that follow it. False where the Schedule has ended. */
  const follow = (first: Option.Option<AccessToken.AccessToken>) =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      let current = first
      while (Option.isSome(current)) {
        const token = current.value
        usage.watch(token)
        const now = wallOf(clock)
        const delay = yield* next(now, token)
        if (delay === undefined) return false
        if (!(yield* waitUntil(token, now + delay))) return true
        wake.unsafeClose()
        if (usage.isIdle(token, wallOf(clock))) {
          usage.watch(undefined)
          return true
        }
        current = yield* store.current
        if (Option.isSome(current) && isDue(current.value, wallOf(clock))) {
          yield* refresh(current.value)
          current = yield* store.current
        }
      }
      return true
    })

  return Effect.gen(function*() {
    let goesOn = true
    while (goesOn) {
      yield* wake.await
      wake.unsafeClose()
      goesOn = yield* Effect.flatMap(store.current, follow)
    }
  })
}
