import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import { type NutritionAdvisorError, TooManyRequests, TransportError } from "../../NutritionAdvisorError.js"
import * as Hold from "./hold.js"
import { heldRequests } from "./metrics.js"
import type { makeRate } from "./rate.js"

/** All times are milliseconds of the monotonic clock. */
interface Settings {
  readonly onTooManyRequests: "fail" | "wait"
  readonly maxWait: number
  readonly rate: ReturnType<typeof makeRate> | undefined
}

interface Request {
  readonly operation: "search" | "request"
  readonly deadline: number
  /** Done when it may begin. */
  readonly turn: Deferred.Deferred<void, NutritionAdvisorError>
}

interface State extends Settings {
  /** Those that wait, in order. All have the same `maxWait`, so one timer, that of the first one, is enough. */
  readonly line: Set<Request>
  readonly now: () => number
  readonly setTimer: (millis: number) => void
  hold: Hold.Hold
}

const leaveLine = ({ line }: State, request: Request, outcome: Exit.Exit<void, NutritionAdvisorError>) => {
  line.delete(request)
  Deferred.unsafeDone(request.turn, outcome)
}

/** What is in the way of the next request, and for how long: nobody knows while one request is out before all others. */
const obstacle = ({ hold, rate }: State, now: number, ahead = 0) => {
  const held = Hold.left(hold, now)
  if (held !== 0) return { reason: "TooManyRequests", millis: held } as const
  const millis = rate?.wait(now, ahead) ?? 0
  return millis > 0 ? { reason: "Rate", millis } as const : undefined
}

/** Lets a request begin where nothing is in the way, and ends it where that takes too long; gives what it waits for otherwise. */
const decide = (state: State, request: Request, now: number, before = obstacle(state, now)) => {
  if (before === undefined) {
    state.hold = Hold.begin(state.hold, request)
    state.rate?.begin(now)
    return leaveLine(state, request, Exit.void)
  }
  const { millis = 0, reason } = before
  const fails = reason === "TooManyRequests" && state.onTooManyRequests === "fail"
  if (!fails && now < request.deadline && now + millis <= request.deadline) return before
  const error = new TooManyRequests({ operation: request.operation, retryAfter: millis > 0 ? millis / 1000 : 1 })
  return leaveLine(state, request, Exit.fail(error))
}

const advance = (state: State, now = state.now()): void => {
  for (const request of state.line) {
    const before = decide(state, request, now)
    if (before) return state.setTimer(Math.min(before.millis ?? Number.POSITIVE_INFINITY, request.deadline - now))
  }
}

const arrive = (state: State, operation: Request["operation"]) => {
  const now = state.now()
  const request: Request = { operation, deadline: now + state.maxWait, turn: Deferred.unsafeMake(FiberId.none) }
  const before = obstacle(state, now, state.line.size)
  if (before !== undefined) heldRequests.count(before.reason)
  state.line.add(request)
  if (before === undefined || decide(state, request, now, before) && state.line.size === 1) advance(state, now)
  return request
}

const leave = (state: State, request: Request, exit: Exit.Exit<unknown, NutritionAdvisorError>) => {
  state.line.delete(request)
  const { hold } = state
  state.hold = Hold.end(hold, request, exit, state.now())
  if (state.hold !== hold) advance(state)
}

const aborted = (operation: Request["operation"]) => new TransportError({ operation, reason: "Aborted" })

/** Lets a request begin once neither a hold nor the rate is in its way. */
export const make = (settings: Settings) =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const runTimer = yield* FiberHandle.makeRuntime<never>()
    const setTimer = (millis: number) =>
      runTimer(Effect.interruptible(Effect.delay(Effect.sync(() => advance(state)), Math.ceil(millis))))
    const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const state: State = { ...settings, line: new Set(), now, setTimer, hold: Hold.none }
    const abort = (request: Request) => leaveLine(state, request, Exit.fail(aborted(request.operation)))
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        state.line.forEach(abort)
      })
    )
    return <A, R>(operation: Request["operation"], self: Effect.Effect<A, NutritionAdvisorError, R>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend((): Effect.Effect<A, NutritionAdvisorError, R> => {
          if (isClosed) return aborted(operation)
          const request = arrive(state, operation)
          return Effect.onExit(
            restore(Effect.zipRight(Deferred.await(request.turn), self)),
            (exit) => Effect.sync(() => leave(state, request, exit))
          )
        })
      )
  })
