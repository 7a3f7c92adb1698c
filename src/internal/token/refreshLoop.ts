import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as AccessToken from "../../AccessToken.js"
import type { TransportError } from "../../NutritionAdvisorError.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Moment } from "../clock.js"
import { momentOf, monotonicOf, wallOf, withNow } from "../clock.js"
import * as ForeignPart from "../foreignPart.js"
import * as Outage from "../outage.js"
import * as ScheduleDriver from "./scheduleDriver.js"
import type { TokenUsage } from "./usage.js"

interface Parts {
  readonly usage: TokenUsage
  readonly current: Effect.Effect<Option.Option<AccessToken.AccessToken>, TransportError>
  readonly policy: RefreshPolicy.CheckedPolicy
  /** How long an earlier exchange delays the next refresh, in milliseconds. */
  readonly refreshDelay: (now: Moment) => number
  /** Refreshes the token, or finds out that it can't. */
  readonly refresh: (token: AccessToken.AccessToken) => Effect.Effect<unknown>
}

/** What follows a turn: another one at once, one with the next use of a token, or none, since the Schedule has ended. */
type Next = "turn" | "rest" | "end"

/** In milliseconds. */
const shortestTurn = 1_000

/** The longest sleep before a look at the wall clock, in milliseconds. */
const step = 60_000

/** Waits in steps of at most `step`, and looks at the clock after each: a machine may have slept, or its clock been set. */
const waitFor = (remaining: (clock: Clock.Clock) => number): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    const millis = remaining(clock)
    return millis > 0
      ? Effect.zipRight(Effect.sleep(Math.ceil(Math.min(millis, step))), waitFor(remaining))
      : Effect.void
  })

/** Sleeps after a turn that took less than the shortest time: no clock, store or Schedule makes the loop spin. */
const withPause = <A, E, R>(turn: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const begun = monotonicOf(clock)
    return Effect.tap(turn, () => monotonicOf(clock) - begun >= shortestTurn ? Effect.void : Effect.sleep(shortestTurn))
  })

/** Refreshes each token before its expiry, as the Schedule says, for as long as it is used. */
export const refreshLoop = (
  { current, policy, refresh, refreshDelay, usage }: Parts
): Effect.Effect<void> => {
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
        const timer = yield* waitFor(untilDue(token, at)).pipe(
          Effect.zipRight(waitFor((clock) => refreshDelay(momentOf(clock)))),
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

  /** Waits until the current token is due, and refreshes it. */
  const turn: Effect.Effect<Next, TransportError> = Effect.gen(function*() {
    wake.unsafeClose()
    const clock = yield* Effect.clock
    const token = yield* current
    if (Option.isNone(token)) return "rest"
    usage.watch(token.value)
    const now = wallOf(clock)
    const { expiresAt, receivedAt } = token.value
    const delay = yield* next(now, { expiresAt, receivedAt })
    if (delay === undefined) return "end"
    if (!(yield* waitUntil(token.value, now + delay))) return "turn"
    wake.unsafeClose()
    if (usage.isIdle(token.value, wallOf(clock))) {
      usage.watch(undefined)
      return "rest"
    }
    const due = yield* current
    if (Option.isSome(due) && isDue(due.value, wallOf(clock))) yield* refresh(due.value)
    return "turn"
  })

  return Effect.gen(function*() {
    const outage = yield* Ref.make(Outage.initial)
    const warn = (cause: Cause.Cause<TransportError>) =>
      Effect.gen(function*() {
        const text = Cause.prettyErrors(cause)[0]?.message ?? "It was interrupted."
        if (yield* withNow((now) => Ref.modify(outage, (state) => Outage.failed(state, text, now)))) {
          yield* Effect.logWarning(`The Schedule goes on after a turn that failed. ${text}`)
        }
      })
    const nextTurn = ForeignPart.call("The refresh of tokens", () => true, () => turn).pipe(
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.zipRight(warn(cause), Effect.sleep(shortestTurn)), "turn" as const)
      ),
      withPause
    )
    yield* wake.await
    let following: Next = "turn"
    while (following !== "end") {
      if (following === "rest") yield* wake.await
      following = yield* nextTurn
    }
  })
}
