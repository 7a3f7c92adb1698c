import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { type NutritionAdvisorError, TooManyRequests } from "../../NutritionAdvisorError.js"
import { monotonicOf, withNow } from "../clock.js"
import * as Breaker from "./breaker.js"
import * as Metrics from "./metrics.js"
import type { Limiter, Question, Rate } from "./rate.js"
import { replyOf } from "./reply.js"

type DataOperation = "search" | "request"

export interface Settings {
  readonly onTooManyRequests: "fail" | "wait" | "ignore"
  /** Milliseconds. */
  readonly maxWait: number
  readonly rate: Rate
}

/** One request, from its arrival to its end. All times are milliseconds of the monotonic clock. */
interface Admission {
  readonly operation: DataOperation
  readonly deadline: number
  /** How many were before it when it arrived; forgotten after its first look. */
  ahead: number
  wake: Deferred.Deferred<void> | undefined
  readonly heldFor: Set<Metrics.HeldReason>
  /** Counts those that began. */
  number: number | undefined
}

interface State {
  readonly settings: Settings
  /** Those that have not begun, in order. */
  readonly line: Set<Admission>
  /** Open while the time of a hold runs. */
  readonly isHeld: Effect.Latch
  breaker: Breaker.Breaker
  /** How many requests have begun. */
  begun: number
}

/** Lets a request begin once neither a hold nor the rate is in its way. */
export type Throttled = <A>(
  operation: DataOperation,
  self: Effect.Effect<A, NutritionAdvisorError>
) => Effect.Effect<A, NutritionAdvisorError>

/** Held back: nothing was sent. */
const refused = ({ operation }: Admission, reason: Metrics.HeldReason, millis: number) => {
  Metrics.refusedRequests.countNow({ reason })
  return Effect.fail(new TooManyRequests({ operation, retryAfter: millis > 0 ? millis / 1000 : 1 }))
}

const firstOf = (line: State["line"]): Admission | undefined => line.values().next().value

const wakeUp = (admission: Admission | undefined) => {
  if (admission?.wake !== undefined) Deferred.unsafeDone(admission.wake, Exit.void)
}

/** Puts the gauge back to zero when the time of a hold is over, where no request comes to do it. */
const watch = (state: State) =>
  Effect.gen(function*() {
    while (true) {
      yield* state.isHeld.await
      const left = yield* withNow(({ monotonic: now }) => Effect.sync(() => Breaker.remaining(state.breaker, now)))
      if (left > 0) {
        yield* Effect.sleep(Math.ceil(left))
      } else {
        Metrics.setHold(0)
        state.isHeld.unsafeClose()
      }
    }
  })

const count = (admission: Admission, reason: Metrics.HeldReason) => {
  if (admission.heldFor.has(reason)) return
  admission.heldFor.add(reason)
  Metrics.heldRequests.countNow({ reason })
}

const arrive = ({ line, settings }: State, operation: DataOperation, now: number) => {
  const admission: Admission = {
    operation,
    deadline: now + settings.maxWait,
    ahead: line.size,
    wake: undefined,
    heldFor: new Set(),
    number: undefined
  }
  line.add(admission)
  return admission
}

const leave = ({ line, settings: { rate } }: State, admission: Admission) => {
  const wasFirst = firstOf(line) === admission
  line.delete(admission)
  if (line.size === 0) rate.limiter?.forget()
  if (wasFirst) wakeUp(firstOf(line))
}

const begin = (state: State, admission: Admission, now: number) => {
  admission.number = state.begun
  state.breaker = Breaker.begin(state.breaker, state.begun)
  state.begun += 1
  state.settings.rate.begin(now)
  leave(state, admission)
}

/**
 * Waits until then, or until it is woken up by what was started before. No race: neither side of one ends where the caller can't be
 * interrupted. Who woke it goes on first: one that begins wakes the next one, and thousands would stand in one stack.
 */
const pause = (admission: Admission, now: number, until: number, started: Effect.Effect<void> = Effect.void) =>
  Effect.uninterruptibleMask((restore) => {
    const wake: Deferred.Deferred<void> = Deferred.unsafeMake(FiberId.none)
    admission.wake = wake
    const millis = Math.ceil(Math.min(until, admission.deadline) - now)
    const timer = Effect.zipRight(Effect.sleep(millis), Effect.sync(() => wakeUp(admission)))
    return Effect.flatMap(
      Effect.zipRight(started, Effect.fork(Effect.interruptible(timer))),
      (timer) =>
        Effect.ensuring(restore(Effect.zipRight(Deferred.await(wake), Effect.yieldNow())), Fiber.interruptFork(timer))
    )
  })

const behindHold = (state: State, admission: Admission, obstacle: Breaker.Obstacle, now: number) => {
  const { line, settings } = state
  settings.rate.limiter?.forget()
  count(admission, "TooManyRequests")
  Metrics.setHold(Breaker.remaining(state.breaker, now) / 1000)
  const [millis, until] = obstacle._tag === "Time" ? [obstacle.millis, now + obstacle.millis] : [1000, now]
  return settings.onTooManyRequests === "fail" || until > admission.deadline || now >= admission.deadline
    ? refused(admission, "TooManyRequests", millis)
    : pause(admission, now, obstacle._tag === "Time" && firstOf(line) === admission ? until : admission.deadline)
}

const behindOthers = ({ line }: State, admission: Admission, wait: number, now: number) => {
  if (wait > 0) count(admission, "Rate")
  admission.ahead = 0
  return now + wait > admission.deadline || now >= admission.deadline
    ? refused(admission, "Rate", wait)
    : pause(admission, now, firstOf(line) === admission ? now + wait : admission.deadline)
}

/** The first one may have only a moment left: a store that needs longer is not silent. */
const question = ({ line, settings: { maxWait } }: State, { deadline }: Admission, now: number): Question => ({
  waiting: () => line.size,
  within: Math.max(deadline - now, maxWait / 2),
  onAnswer: () => wakeUp(firstOf(line))
})

const behindLimiter = (state: State, admission: Admission, limiter: Limiter, now: number) =>
  now >= admission.deadline && limiter.isAsked()
    ? refused(admission, "Rate", 0)
    : pause(admission, now, admission.deadline, limiter.ask(question(state, admission, now)))

/** What the request waits for now; nothing where it may begin. */
const waitFor = (state: State, admission: Admission, now: number): Effect.Effect<void, TooManyRequests> | undefined => {
  const { line, settings: { rate } } = state
  const { limiter } = rate
  const obstacle = Breaker.obstacle(state.breaker, now)
  if (obstacle !== undefined) return behindHold(state, admission, obstacle, now)
  const isFirst = firstOf(line) === admission
  const wait = rate.wait(now, isFirst ? 0 : admission.ahead)
  const mayBegin = limiter === undefined ? rate.wait(now, 0) === 0 : limiter.isSilent(now)
  if (now >= admission.deadline && mayBegin) return undefined
  if (!isFirst || wait > 0) return behindOthers(state, admission, wait, now)
  return limiter === undefined || limiter.mayBegin(now) ? undefined : behindLimiter(state, admission, limiter, now)
}

/** Ends once the request may begin. */
const admit = (state: State, admission: Admission): Effect.Effect<void, TooManyRequests> =>
  withNow((now) => {
    const wait = waitFor(state, admission, now.monotonic)
    if (wait !== undefined) return Effect.zipRight(wait, admit(state, admission))
    begin(state, admission, now.monotonic)
    return state.settings.rate.limiter?.warn(now) ?? Effect.void
  })

const change = (state: State, next: Breaker.Breaker, now: number) => {
  const { breaker, isHeld, line, settings: { onTooManyRequests } } = state
  if (next === breaker || onTooManyRequests === "ignore") return
  state.breaker = next
  if (next._tag === "Closed") Metrics.setHold(0)
  if (Breaker.remaining(next, now) > 0) isHeld.unsafeOpen()
  if (onTooManyRequests === "fail" && next._tag === "Open") line.forEach(wakeUp)
  else wakeUp(firstOf(line))
}

const settle = (
  state: State,
  admission: Admission,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  clock: Clock.Clock
) => {
  const { breaker } = state
  const { number } = admission
  if (number === undefined) return leave(state, admission)
  const now = monotonicOf(clock)
  const reply = replyOf(exit)
  switch (reply._tag) {
    case "Answer":
      return change(state, Breaker.answered(breaker, number, reply.isSuccess), now)
    case "None":
      return change(state, Breaker.unanswered(breaker, number, now), now)
    case "TooMany":
      change(state, Breaker.tooMany(breaker, number, state.begun, reply.retryAfter, now), now)
      return Metrics.setHold(Breaker.remaining(state.breaker, now) / 1000)
  }
}

export const make = (settings: Settings): Effect.Effect<Throttled, never, Scope.Scope> =>
  Effect.gen(function*() {
    const isHeld = yield* Effect.makeLatch()
    const state: State = { settings, line: new Set(), isHeld, breaker: Breaker.closed, begun: 0 }
    yield* Effect.forkScoped(Effect.interruptible(watch(state)))
    return (operation, self) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.clockWith((clock) => {
          const admission = arrive(state, operation, monotonicOf(clock))
          return Effect.onExit(
            restore(Effect.zipRight(admit(state, admission), self)),
            (exit) => Effect.sync(() => settle(state, admission, exit, clock))
          )
        })
      )
  })
