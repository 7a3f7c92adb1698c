import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import { type NutritionAdvisorError, TooManyRequests } from "../../../NutritionAdvisorError.js"
import { closed, onClose } from "../../errors/closed.js"
import type { DataOperation } from "../../errors/dataOperation.js"
import { through } from "../../request/sendGate.js"
import { monotonicMillis } from "../../runtime/clock.js"
import { heldRequests } from "../metrics.js"
import * as Hold from "./hold.js"
import type { Pace } from "./pace.js"

/** All times are in milliseconds on the monotonic clock. */
interface Settings {
  readonly onTooManyRequests: "fail" | "wait"
  readonly maxWait: number
  readonly pace: Pace
}

interface Request {
  readonly operation: DataOperation
  /** How long it has waited in the line so far. */
  waited: number
  /** The time at which it was last let through. */
  permittedAt: number
  /** Whether its first turn is over and it has not been sent since. That turn counts as its first send. */
  isUnsent: boolean
  /** Whether the metric has counted it. */
  isHeld: boolean
}

/** A request in a line. */
interface Place {
  readonly request: Request
  readonly line: Set<Place>
  readonly since: number
  readonly deadline: number
  readonly turn: Deferred.Deferred<void, NutritionAdvisorError>
}

interface State extends Settings {
  /** Requests that have started and need another turn before they are sent. They go before those that have not started. */
  readonly returning: Set<Place>
  /** Requests that have not started. All have the same longest wait, so the first one has the earliest deadline. */
  readonly arriving: Set<Place>
  readonly now: () => number
  readonly setTimer: (millis: number) => void
  hold: Hold.Hold
  lastPermitted: Request | undefined
  isClosed: boolean
}

/** If fewer milliseconds than this pass between a request's turn and its send, it didn't wait for anything in between. */
const sendMillis = 1

/** Returns what a request has to wait for if `ahead` others go before it. */
const obstacleOf = ({ hold, pace }: State, request: Request, now: number, ahead = 0) => {
  const held = Hold.wait(hold, request, now)
  const paced = pace.wait(now)
  const behind = ahead * pace.distance
  const millis = behind + Math.max(held, paced)
  // The probe may get its response, and so end the hold, at any time.
  const shortest = hold._tag === "Probing" ? behind + paced : millis
  return millis > 0 ? { reason: held > 0 ? "TooManyRequests" : "Rate", millis, shortest } as const : undefined
}

type Obstacle = NonNullable<ReturnType<typeof obstacleOf>>

const leave = (state: State, place: Place, outcome: Exit.Exit<void, NutritionAdvisorError>) => {
  place.request.waited += state.now() - place.since
  place.line.delete(place)
  Deferred.unsafeDone(place.turn, outcome)
}

const permit = (state: State, place: Place, now: number) => {
  const { line, request, since } = place
  state.hold = Hold.permit(state.hold, request, now)
  state.pace.count(now, now > since)
  state.lastPermitted = request
  request.permittedAt = now
  request.isUnsent = line === state.arriving
  leave(state, place, Exit.void)
}

/** Fails a request that would have to wait too long, and returns whether it did. */
const failIfTooLate = (state: State, place: Place, { millis, reason, shortest }: Obstacle, now: number) => {
  const { deadline, request: { operation } } = place
  const fails = reason === "TooManyRequests" && state.onTooManyRequests === "fail"
  if (!fails && now < deadline && now + shortest <= deadline) return false
  leave(state, place, Exit.fail(new TooManyRequests({ operation, retryAfter: millis / 1000 })))
  return true
}

/** Lets requests through until one has to wait, and sets a timer to continue when that wait or a deadline ends. */
const advance = (state: State, now = state.now()): void => {
  let timer = Number.POSITIVE_INFINITY
  for (const line of [state.returning, state.arriving]) {
    for (const place of line) {
      const obstacle = obstacleOf(state, place.request, now)
      if (obstacle === undefined) permit(state, place, now)
      else if (!failIfTooLate(state, place, obstacle, now)) {
        timer = Math.min(timer, obstacle.millis, place.deadline - now)
        if (line === state.arriving) break
      }
    }
  }
  if (timer < Number.POSITIVE_INFINITY) state.setTimer(timer)
}

const join = (state: State, request: Request, line: Set<Place>) => {
  const now = state.now()
  const place: Place = {
    request,
    line,
    since: now,
    deadline: now + state.maxWait - request.waited,
    turn: Deferred.unsafeMake(FiberId.none)
  }
  const ahead = state.returning.size + (line === state.arriving ? state.arriving.size : 0)
  const obstacle = obstacleOf(state, request, now, ahead)
  if (obstacle !== undefined) {
    if (!request.isHeld) heldRequests.count(obstacle.reason)
    request.isHeld = true
    if (failIfTooLate(state, place, obstacle, now)) return place
  }
  line.add(place)
  // If others arrived earlier, a timer is already set for the first of them, and then serves this one, too.
  if (obstacle === undefined || line === state.returning || ahead === 0) advance(state, now)
  return place
}

const awaitTurn = (state: State, request: Request, line: Set<Place>): Effect.Effect<void, NutritionAdvisorError> =>
  Effect.suspend(() => {
    if (state.isClosed) return closed(request.operation)
    const place = join(state, request, line)
    return Effect.onInterrupt(Deferred.await(place.turn), () => Effect.sync(() => line.delete(place)))
  })

/** Runs just before a request is sent. If it has waited for a token, or is being resent, it needs another turn. */
const awaitSend = (state: State, request: Request): Effect.Effect<void, NutritionAdvisorError> =>
  Effect.suspend(() => {
    const now = state.now()
    const isAtOnce = now - request.permittedAt < sendMillis
    const isLast = state.lastPermitted === request && state.returning.size === 0
    const isPermitted = request.isUnsent && (isAtOnce || isLast) && Hold.wait(state.hold, request, now) === 0
    request.isUnsent = false
    if (!isPermitted) return awaitTurn(state, request, state.returning)
    if (!isAtOnce) state.pace.delay(now)
    state.hold = Hold.permit(state.hold, request, now)
    request.permittedAt = now
    return Effect.void
  })

const end = (state: State, request: Request, exit: Exit.Exit<unknown, NutritionAdvisorError>) => {
  const { hold } = state
  state.hold = Hold.end(hold, request, request.permittedAt, exit, state.now())
  if (state.hold !== hold) advance(state)
}

const close = (state: State) => {
  state.isClosed = true
  for (const place of [...state.returning, ...state.arriving]) {
    leave(state, place, Exit.fail(closed(place.request.operation)))
  }
}

/** Makes a request wait before it begins, and again before it is sent, as long as a hold or the rate limit requires. */
export const make = (settings: Settings) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const runTimer = yield* FiberHandle.makeRuntime<never>()
    const state: State = {
      ...settings,
      returning: new Set(),
      arriving: new Set(),
      now: () => monotonicMillis(clock),
      setTimer: (millis) =>
        runTimer(Effect.interruptible(Effect.delay(Effect.sync(() => advance(state)), Math.ceil(millis)))),
      hold: Hold.open,
      lastPermitted: undefined,
      isClosed: false
    }
    yield* onClose(Effect.sync(() => close(state)))
    return <A, R>(operation: DataOperation, self: Effect.Effect<A, NutritionAdvisorError, R>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend((): Effect.Effect<A, NutritionAdvisorError, R> => {
          const permittedAt = Number.NEGATIVE_INFINITY
          const request: Request = { operation, waited: 0, permittedAt, isUnsent: false, isHeld: false }
          return Effect.onExit(
            restore(
              Effect.zipRight(awaitTurn(state, request, state.arriving), through(self, awaitSend(state, request)))
            ),
            (exit) => Effect.sync(() => end(state, request, exit))
          )
        })
      )
  })
