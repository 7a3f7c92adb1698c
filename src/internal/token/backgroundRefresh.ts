import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { type AccessToken, stateAt, windowOf } from "../../AccessToken.js"
import type * as RefreshPolicy from "../../RefreshPolicy.js"
import type { RunInBackground } from "../runtime/background.js"
import { maxPause, pauseOf, untilNextCheck } from "./delays.js"
import * as WakeUps from "./wakeUps.js"

interface Options {
  readonly policy: RefreshPolicy.CheckedPolicy
  readonly current: Effect.Effect<Option.Option<AccessToken>>
  readonly refresh: (token: AccessToken) => Effect.Effect<void>
}

/** The background refresh ignores tokens with a shorter lifetime, in milliseconds: only calls refresh them. */
const minScheduledLife = 20_000

const isScheduled = ({ expiresAt, receivedAt }: AccessToken) => expiresAt - receivedAt >= minScheduledLife

/** The token of a check, and what follows. Both delays are in milliseconds. */
interface Check {
  readonly token: AccessToken
  /** The delay until the next check. */
  readonly delay: number
  /** The delay from the start of the window to the refresh. Random, so that tokens that replicas got together aren't refreshed together. */
  readonly jitter: number
}

/**
 * Returns a function that tells the background refresh which token is in use. The first token starts a loop, which runs until the scope is
 * closed:
 *
 * 1. A check reads the store, and refreshes the token if it is no longer fresh. The Schedule in `delays` computes a delay.
 * 2. A timer waits for that delay, or until the refresh is due if that is sooner.
 * 3. If the same token is still in use and its refresh isn't due, step 2 is repeated. Otherwise, the next check starts with step 1.
 */
export const make = (
  options: Options,
  run: RunInBackground
): Effect.Effect<(token: AccessToken) => void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { current, policy, refresh } = options
    const clock = yield* Effect.clock
    const wakeAfter = yield* WakeUps.make
    let isStarted = false
    /** The last check, unless another token has been in use since. */
    let last: Check | undefined

    const now = () => clock.unsafeCurrentTimeMillis()

    /** How long the refresh of a token has to wait, in milliseconds. A token from the future is refreshed immediately. */
    const untilRefresh = ({ jitter, token }: Check) =>
      token.receivedAt > now() ? 0 : token.expiresAt - windowOf(token, policy) + jitter - now()

    /** The time until the next wake-up, in milliseconds: until the refresh is due, but at most `delay`, also after a failed refresh. */
    const untilWakeUp = (check: Check) => {
      const millis = untilRefresh(check)
      return millis > 0 ? Math.min(millis, check.delay) : check.delay
    }

    const checkToken = Effect.gen(function*() {
      const token = Option.getOrUndefined(Option.filter(yield* current, isScheduled))
      if (token !== undefined && stateAt(token, now(), policy) !== "fresh") yield* refresh(token)
      const delay = yield* untilNextCheck(token === undefined ? maxPause : pauseOf(token, policy))
      last = token && { token, delay, jitter: delay * (yield* Random.next) }
      wakeAfter(last === undefined ? delay : untilWakeUp(last), wakeUp)
    })

    /** Until the refresh is due, this starts no fiber, because a process may have thousands of idle clients. */
    const wakeUp = () => {
      if (last !== undefined && untilRefresh(last) > 0) wakeAfter(untilWakeUp(last), wakeUp)
      else run(checkToken)
    }

    return (token) => {
      if (!isStarted) {
        isStarted = true
        run(checkToken)
      }
      if (last?.token !== token) last = undefined
    }
  })
