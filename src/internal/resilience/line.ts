import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import { type NutritionAdvisorError, TooManyRequests } from "../../NutritionAdvisorError.js"
import { monotonicMillis } from "../clock.js"
import { closed } from "../closed.js"
import { through } from "../request/sendGate.js"
import * as Hold from "./hold.js"
import { heldRequests } from "./metrics.js"
import type { makePace } from "./pace.js"

/** All times are milliseconds of the monotonic clock. */
interface Settings {
  readonly onTooManyRequests: "fail" | "wait"
  readonly maxWait: number
  readonly pace: ReturnType<typeof makePace> | undefined
}

interface Request {
  readonly operation: "search" | "request"
  /** How long it has waited in the line so far. */
  waited: number
  /** When it was last let through. */
  permittedAt: number
  /** It was counted when it began, and has not been sent since. */
  isUnsent: boolean
  isHeld: boolean
}

/** A request in the line. */
interface Place {
  readonly request: Request
  readonly since: number
  readonly deadline: number
  readonly turn: Deferred.Deferred<void, NutritionAdvisorError>
}

interface State extends Settings {
  /** Requests that have begun and are about to be sent. They go before those that have not begun. */
  readonly returning: Set<Place>
  /** Requests that have not begun. All wait equally long at most, so the first one has the earliest deadline. */
  readonly arriving: Set<Place>
  readonly now: () => number
  readonly setTimer: (millis: number) => void
  hold: Hold.Hold
  lastPermitted: Request | undefined
  isClosed: boolean
}

/** The runtime needs fewer milliseconds than this to get from the beginning of a request to its send. */
const sendMillis = 1

/** What a request has to wait for, if so many others go before it. Nobody knows when a probe gets its response. */
const obstacleOf = ({ hold, pace }: State, request: Request, now: number, ahead = 0) => {
  const held = Hold.wait(hold, request, now)
  const paced = pace?.wait(now) ?? 0
  const behind = ahead * (pace?.distance ?? 0)
  const known = behind + (hold._tag === "Probing" ? paced : Math.max(held, paced))
  const millis = behind + Math.max(held, paced)
  return millis > 0 ? { reason: held > 0 ? "TooManyRequests" : "Rate", millis, known } as const : undefined
}

type Obstacle = NonNullable<ReturnType<typeof obstacleOf>>

const leave = (state: State, place: Place, outcome: Exit.Exit<void, NutritionAdvisorError>) => {
  place.request.waited += state.now() - place.since
  state.returning.delete(place)
  state.arriving.delete(place)
  Deferred.unsafeDone(place.turn, outcome)
}

const permit = (state: State, place: Place, now: number) => {
  const { request, since } = place
  state.hold = Hold.permit(state.hold, request, now)
  state.pace?.count(now, now > since)
  state.lastPermitted = request
  request.permittedAt = now
  request.isUnsent = state.arriving.has(place)
  leave(state, place, Exit.void)
}

/** Refuses a request that would have to wait too long. */
const isRefused = (state: State, place: Place, { known, millis, reason }: Obstacle, now: number) => {
  const { deadline, request: { operation } } = place
  const fails = reason === "TooManyRequests" && state.onTooManyRequests === "fail"
  if (!fails && now < deadline && now + known <= deadline) return false
  leave(state, place, Exit.fail(new TooManyRequests({ operation, retryAfter: millis / 1000 })))
  return true
}

/** Lets requests through until one has to wait. Runs again when that wait or a deadline is over. */
const advance = (state: State, now = state.now()): void => {
  let timer = Number.POSITIVE_INFINITY
  for (const line of [state.returning, state.arriving]) {
    for (const place of line) {
      const obstacle = obstacleOf(state, place.request, now)
      if (obstacle === undefined) permit(state, place, now)
      else if (!isRefused(state, place, obstacle, now)) {
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
    since: now,
    deadline: now + state.maxWait - request.waited,
    turn: Deferred.unsafeMake(FiberId.none)
  }
  const ahead = state.returning.size + (line === state.arriving ? state.arriving.size : 0)
  const obstacle = obstacleOf(state, request, now, ahead)
  if (obstacle !== undefined && !request.isHeld) heldRequests.count(obstacle.reason)
  request.isHeld ||= obstacle !== undefined
  line.add(place)
  if (obstacle !== undefined && isRefused(state, place, obstacle, now)) return place
  // A timer is already set for those that wait longer than the first of the line.
  if (obstacle === undefined || line === state.returning || ahead === 0) advance(state, now)
  return place
}

const awaitTurn = (state: State, request: Request, line: Set<Place>): Effect.Effect<void, NutritionAdvisorError> =>
  Effect.suspend(() => {
    if (state.isClosed) return closed(request.operation)
    const place = join(state, request, line)
    return Effect.onInterrupt(Deferred.await(place.turn), () =>
      Effect.sync(() => {
        line.delete(place)
      }))
  })

/** A request that began is sent now. If it has waited for a token since, or is sent a second time, it needs another turn. */
const awaitSend = (state: State, request: Request): Effect.Effect<void, NutritionAdvisorError> =>
  Effect.suspend(() => {
    const now = state.now()
    const isAtOnce = now - request.permittedAt < sendMillis
    const isLast = state.lastPermitted === request && state.returning.size === 0
    const isPermitted = request.isUnsent && (isAtOnce || isLast) && Hold.wait(state.hold, request, now) === 0
    request.isUnsent = false
    if (!isPermitted) return awaitTurn(state, request, state.returning)
    if (!isAtOnce) state.pace?.delay(now)
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

/** Lets a request begin, and lets it be sent, when neither a hold nor the rate is in its way. */
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
    yield* Effect.addFinalizer(() => Effect.sync(() => close(state)))
    return <A, R>(operation: Request["operation"], self: Effect.Effect<A, NutritionAdvisorError, R>) =>
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
