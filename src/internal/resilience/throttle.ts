import type * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { type NutritionAdvisorError, TooManyRequests } from "../../NutritionAdvisorError.js"
import { monotonicOf, withNow } from "../clock.js"
import * as Hold from "./hold.js"
import * as Metrics from "./metrics.js"
import type { Rate } from "./rate.js"
import { replyOf } from "./reply.js"
import * as WaitingLine from "./waitingLine.js"

type DataOperation = "search" | "request"

export interface Settings {
  readonly onTooManyRequests: "fail" | "wait" | "ignore"
  /** Milliseconds. */
  readonly maxWait: number
  readonly rate: Rate
}

/** One request, from its arrival to its end. All times are milliseconds of the monotonic clock. */
interface Turn {
  readonly operation: DataOperation
  readonly deadline: number
  /** How many were before it when it arrived; forgotten after its first look. */
  ahead: number
  wake: Deferred.Deferred<void> | undefined
  readonly heldFor: Set<"TooManyRequests" | "Rate">
  /** Counts those that began. */
  number: number | undefined
}

interface State {
  readonly settings: Settings
  /** Those that have not begun, in order. */
  readonly line: WaitingLine.WaitingLine<Turn>
  /** Open while the time of a hold runs. */
  readonly isHeld: Effect.Latch
  hold: Hold.Hold
  /** How many requests have begun. */
  begun: number
}

/** Lets a request begin once neither a hold nor the rate is in its way. */
export type Throttled = <A>(
  operation: DataOperation,
  self: Effect.Effect<A, NutritionAdvisorError>
) => Effect.Effect<A, NutritionAdvisorError>

/** Held back: nothing was sent. */
const refused = ({ operation }: Turn, reason: "TooManyRequests" | "Rate", millis: number) => {
  Metrics.refusedRequests.countNow({ reason })
  return Effect.fail(new TooManyRequests({ operation, retryAfter: millis > 0 ? millis / 1000 : 1 }))
}

const wakeUp = (turn: Turn | undefined) => {
  if (turn?.wake !== undefined) Deferred.unsafeDone(turn.wake, Exit.void)
}

/** Puts the gauge back to zero when the time of a hold is over, where no request comes to do it. */
const watch = (state: State) =>
  Effect.gen(function*() {
    while (true) {
      yield* state.isHeld.await
      const left = yield* withNow(({ monotonic: now }) => Effect.sync(() => Hold.remaining(state.hold, now)))
      if (left > 0) {
        yield* Effect.sleep(Math.ceil(left))
      } else {
        Metrics.setHold(0)
        state.isHeld.unsafeClose()
      }
    }
  })

const count = (turn: Turn, reason: "TooManyRequests" | "Rate") => {
  if (turn.heldFor.has(reason)) return
  turn.heldFor.add(reason)
  Metrics.heldRequests.countNow({ reason })
}

const arrive = ({ line, settings }: State, operation: DataOperation, now: number) => {
  const turn: Turn = {
    operation,
    deadline: now + settings.maxWait,
    ahead: line.size(),
    wake: undefined,
    heldFor: new Set(),
    number: undefined
  }
  line.add(turn)
  return turn
}

const leave = ({ line, settings: { rate } }: State, turn: Turn) => {
  const wasFirst = line.first() === turn
  line.remove(turn)
  if (line.size() === 0) rate.limiter?.forget()
  if (wasFirst) wakeUp(line.first())
}

const begin = (state: State, turn: Turn, now: number) => {
  turn.number = state.begun
  state.hold = Hold.begin(state.hold, state.begun)
  state.begun += 1
  state.settings.rate.begin(now)
  leave(state, turn)
}

/**
 * Waits until then, or until it is woken up by what was started before. No race: neither side of one ends where the caller can't be
 * interrupted.
 */
const pause = (turn: Turn, now: number, until: number, started: Effect.Effect<void> = Effect.void) =>
  Effect.uninterruptibleMask((restore) => {
    const wake: Deferred.Deferred<void> = Deferred.unsafeMake(FiberId.none)
    turn.wake = wake
    const millis = Math.ceil(Math.min(until, turn.deadline) - now)
    const timer = Effect.zipRight(Effect.sleep(millis), Effect.sync(() => wakeUp(turn)))
    return Effect.flatMap(
      Effect.zipRight(started, Effect.fork(Effect.interruptible(timer))),
      (timer) => Effect.ensuring(restore(Deferred.await(wake)), Fiber.interruptFork(timer))
    )
  })

const behindHold = (state: State, turn: Turn, obstacle: Exclude<Hold.Obstacle, undefined>, now: number) => {
  state.settings.rate.limiter?.forget()
  count(turn, "TooManyRequests")
  Metrics.setHold(Hold.remaining(state.hold, now) / 1000)
  const millis = obstacle._tag === "Time" ? obstacle.millis : 1000
  const until = obstacle._tag === "Time" ? now + obstacle.millis : now
  return state.settings.onTooManyRequests === "fail" || until > turn.deadline || now >= turn.deadline
    ? refused(turn, "TooManyRequests", millis)
    : pause(turn, now, obstacle._tag === "Time" && state.line.first() === turn ? until : turn.deadline)
}

const behindOthers = ({ line }: State, turn: Turn, wait: number, now: number) => {
  if (wait > 0) count(turn, "Rate")
  turn.ahead = 0
  return now + wait > turn.deadline || now >= turn.deadline
    ? refused(turn, "Rate", wait)
    : pause(turn, now, line.first() === turn ? now + wait : turn.deadline)
}

/** Ends once the request may begin. */
const awaitTurn = (state: State, turn: Turn): Effect.Effect<void, TooManyRequests> =>
  withNow((moment) =>
    Effect.suspend(() => {
      const { line, settings: { rate } } = state
      const { limiter } = rate
      const now = moment.monotonic
      const obstacle = Hold.obstacle(state.hold, now)
      if (obstacle !== undefined) return Effect.zipRight(behindHold(state, turn, obstacle, now), awaitTurn(state, turn))
      const isFirst = line.first() === turn
      const wait = rate.wait(now, isFirst ? 0 : turn.ahead)
      const mayBegin = limiter === undefined ? rate.wait(now, 0) === 0 : limiter.isSilent(now)
      if (now < turn.deadline || !mayBegin) {
        if (!isFirst || wait > 0) return Effect.zipRight(behindOthers(state, turn, wait, now), awaitTurn(state, turn))
        if (limiter?.mayBegin(now) === false) {
          const asked = limiter.ask(line.size(), turn.deadline - now, () => wakeUp(line.first()))
          return Effect.zipRight(pause(turn, now, turn.deadline, asked), awaitTurn(state, turn))
        }
      }
      begin(state, turn, now)
      return limiter?.warn(moment) ?? Effect.void
    })
  )

const change = (state: State, next: Hold.Hold, now: number) => {
  const { hold, isHeld, line, settings: { onTooManyRequests } } = state
  if (next === hold || onTooManyRequests === "ignore") return
  state.hold = next
  if (hold._tag === "Holding" && next._tag === "Free") Metrics.setHold(0)
  if (Hold.remaining(next, now) > 0) isHeld.unsafeOpen()
  if (onTooManyRequests === "fail" && next._tag === "Holding") line.forEach(wakeUp)
  else wakeUp(line.first())
}

const settle = (
  state: State,
  turn: Turn,
  exit: Exit.Exit<unknown, NutritionAdvisorError>,
  clock: Clock.Clock
) => {
  const { number } = turn
  if (number === undefined) return leave(state, turn)
  const now = monotonicOf(clock)
  const reply = replyOf(exit)
  switch (reply._tag) {
    case "Success":
      return change(state, Hold.answered(state.hold, number, true), now)
    case "Answer":
      return change(state, Hold.answered(state.hold, number, false), now)
    case "None":
      return change(state, Hold.unanswered(state.hold, number), now)
    case "TooMany":
      change(state, Hold.tooMany(state.hold, number, state.begun, reply.retryAfter, now), now)
      return Metrics.setHold(Hold.remaining(state.hold, now) / 1000)
  }
}

export const make = (settings: Settings): Effect.Effect<Throttled, never, Scope.Scope> =>
  Effect.gen(function*() {
    const isHeld = yield* Effect.makeLatch()
    const state: State = { settings, line: WaitingLine.make(), isHeld, hold: Hold.free, begun: 0 }
    yield* Effect.forkScoped(Effect.interruptible(watch(state)))
    return (operation, self) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.clockWith((clock) => {
          const turn = arrive(state, operation, monotonicOf(clock))
          return Effect.onExit(
            restore(Effect.zipRight(awaitTurn(state, turn), self)),
            (exit) => Effect.sync(() => settle(state, turn, exit, clock))
          )
        })
      )
  })
