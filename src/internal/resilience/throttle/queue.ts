import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { type NutritionAdvisorError, TooManyRequests } from "../../../NutritionAdvisorError.js"
import { closedError } from "../../errors/transportErrors.js"
import type { DataOperation } from "../../request/build.js"
import { immediateMillis, withGate } from "../../request/sendGate.js"
import { monotonicMillis } from "../../runtime/clock.js"
import { onClose } from "../../runtime/onClose.js"
import { heldRequests } from "../metrics.js"
import * as Hold from "./hold.js"
import * as Pace from "./pace.js"

/** All times are in milliseconds on the monotonic clock. */
interface Settings {
  readonly onTooManyRequests: "fail" | "wait"
  readonly maxWait: number
  readonly rate: Pace.Rate
}

interface QueuedRequest {
  readonly operation: DataOperation
  /** How long it has waited in the queue so far. */
  waited: number
  /** The time at which it was last let through. */
  permittedAt: number
  /** Whether its first turn is used up. */
  hasStarted: boolean
  /** Whether the metric has counted it. */
  isCounted: boolean
}

interface Waiter {
  readonly request: QueuedRequest
  readonly since: number
  readonly deadline: number
  readonly turn: Deferred.Deferred<void, NutritionAdvisorError>
}

/** Whether a request may go now, has to wait, or fails because it would wait too long. `millis` is its wait, as far as it is known. */
type Decision =
  | { readonly _tag: "Now" }
  | { readonly _tag: "Wait" | "TooLate"; readonly reason: "TooManyRequests" | "Rate"; readonly millis: number }

/** Whether the request is sent right after its turn, without waiting for a token in between. */
const isImmediate = ({ permittedAt }: QueuedRequest, now: number) => now - permittedAt < immediateMillis

/** Each request waits for a turn before it starts. It waits for another turn before each send, unless it can use its first one. */
export class Queue {
  /** Requests that have started and need another turn before they are sent. They go before those that have not started. */
  private readonly startedRequests = new Set<Waiter>()
  /** Requests that have not started. All have the same longest wait, so the first one has the earliest deadline. */
  private readonly newRequests = new Set<Waiter>()
  private hold = Hold.open
  private pace = Pace.initial
  private lastPermitted: QueuedRequest | undefined
  private isClosed = false

  constructor(
    private readonly settings: Settings,
    private readonly now: () => number,
    private readonly setTimer: (millis: number) => void
  ) {}

  /** Makes a call wait before it starts, and again before it sends a request, as long as a hold or the rate limit requires. */
  throttle<A>(
    operation: DataOperation,
    call: Effect.Effect<A, NutritionAdvisorError>
  ): Effect.Effect<A, NutritionAdvisorError> {
    return Effect.suspend(() => {
      const request: QueuedRequest = {
        operation,
        waited: 0,
        permittedAt: Number.NEGATIVE_INFINITY,
        hasStarted: false,
        isCounted: false
      }
      const throttled = Effect.zipRight(this.awaitTurn(request), withGate(call, this.awaitSend(request)))
      return Effect.onExit(throttled, (exit) => Effect.sync(() => this.end(request, exit)))
    })
  }

  /** Lets requests through until one has to wait, and sets a timer to continue when that wait or a deadline ends. */
  advance(now = this.now()) {
    let timer = Number.POSITIVE_INFINITY
    for (const lane of [this.startedRequests, this.newRequests]) {
      for (const waiter of lane) {
        const decision = this.decide(waiter, now)
        if (decision._tag === "Now") this.permit(waiter, now)
        else if (decision._tag === "TooLate") this.rejectAsTooLate(waiter, decision.millis)
        else {
          timer = Math.min(timer, decision.millis, waiter.deadline - now)
          if (lane === this.newRequests) break
        }
      }
    }
    if (timer < Number.POSITIVE_INFINITY) this.setTimer(timer)
  }

  /** Fails all requests that wait, and every later one. */
  close() {
    this.isClosed = true
    for (const waiter of [...this.startedRequests, ...this.newRequests]) this.rejectAsClosed(waiter)
  }

  private laneOf({ hasStarted }: QueuedRequest): Set<Waiter> {
    return hasStarted ? this.startedRequests : this.newRequests
  }

  private awaitTurn(request: QueuedRequest): Effect.Effect<void, NutritionAdvisorError> {
    return Effect.uninterruptibleMask((restore) => {
      const waiter = this.join(request)
      const quit = Effect.sync(() => this.laneOf(request).delete(waiter))
      return Effect.onInterrupt(restore(Deferred.await(waiter.turn)), () => quit)
    })
  }

  /** Whether a request can be sent in its first turn: right after it, or later if the turn can be moved to now. */
  private canUseTurn(request: QueuedRequest, now: number): boolean {
    if (request.hasStarted || Hold.waitTime(this.hold, request, now) > 0) return false
    // It can be moved if it was counted last, and no started request waits.
    const canMove = this.lastPermitted === request && this.startedRequests.size === 0
    return isImmediate(request, now) || canMove
  }

  /** Runs just before a request is sent. If it has waited for a token, or is being resent, it needs another turn. */
  private awaitSend(request: QueuedRequest): Effect.Effect<void, NutritionAdvisorError> {
    return Effect.suspend(() => {
      const now = this.now()
      const canUseTurn = this.canUseTurn(request, now)
      request.hasStarted = true
      if (!canUseTurn) return this.awaitTurn(request)
      if (!isImmediate(request, now)) this.pace = Pace.startAt(now)
      this.hold = Hold.permit(this.hold, request, now)
      request.permittedAt = now
      return Effect.void
    })
  }

  private end(request: QueuedRequest, exit: Exit.Exit<unknown, NutritionAdvisorError>) {
    const { hold } = this
    this.hold = Hold.end(hold, request, exit, this.now())
    if (this.hold !== hold) this.advance()
  }

  private join(request: QueuedRequest): Waiter {
    const now = this.now()
    const waiter: Waiter = {
      request,
      since: now,
      deadline: now + this.settings.maxWait - request.waited,
      turn: Deferred.unsafeMake(FiberId.none)
    }
    if (this.isClosed) this.rejectAsClosed(waiter)
    else this.enqueue(waiter, now)
    return waiter
  }

  private enqueue(waiter: Waiter, now: number) {
    const { request } = waiter
    const ahead = this.startedRequests.size + (request.hasStarted ? 0 : this.newRequests.size)
    const decision = this.decide(waiter, now, ahead)
    if (decision._tag !== "Now" && !request.isCounted) {
      heldRequests.count(decision.reason)
      request.isCounted = true
    }
    if (decision._tag === "TooLate") return this.rejectAsTooLate(waiter, decision.millis)
    this.laneOf(request).add(waiter)
    // If others joined earlier, the timer for the first of them is already set, and also serves this one.
    if (decision._tag === "Now" || request.hasStarted || ahead === 0) this.advance(now)
  }

  private leave(waiter: Waiter, outcome: Exit.Exit<void, NutritionAdvisorError>) {
    waiter.request.waited += this.now() - waiter.since
    this.laneOf(waiter.request).delete(waiter)
    Deferred.unsafeDone(waiter.turn, outcome)
  }

  private rejectAsClosed(waiter: Waiter) {
    this.leave(waiter, Exit.fail(closedError(waiter.request.operation)))
  }

  private permit(waiter: Waiter, now: number) {
    const { request, since } = waiter
    this.hold = Hold.permit(this.hold, request, now)
    this.pace = Pace.count(this.settings.rate, this.pace, now, now > since)
    this.lastPermitted = request
    request.permittedAt = now
    this.leave(waiter, Exit.void)
  }

  private rejectAsTooLate(waiter: Waiter, millis: number) {
    const { operation } = waiter.request
    this.leave(waiter, Exit.fail(new TooManyRequests({ operation, retryAfter: millis / 1000 })))
  }

  /** Decides whether a request may go if `ahead` others go before it. */
  private decide({ deadline, request }: Waiter, now: number, ahead = 0): Decision {
    const { hold, settings: { onTooManyRequests, rate } } = this
    const held = Hold.waitTime(hold, request, now)
    const paced = Pace.waitTime(rate, this.pace, now)
    const waitBehind = ahead * Pace.distanceOf(rate)
    const millis = waitBehind + Math.max(held, paced)
    if (millis <= 0) return { _tag: "Now" }
    const reason = held > 0 ? "TooManyRequests" : "Rate"
    // The response to a probe may end the hold at any time.
    const minWait = hold._tag === "Probing" ? waitBehind + paced : millis
    const failsAtOnce = reason === "TooManyRequests" && onTooManyRequests === "fail"
    const isTooLate = failsAtOnce || now >= deadline || now + minWait > deadline
    return { _tag: isTooLate ? "TooLate" : "Wait", reason, millis }
  }
}

export const make = (settings: Settings): Effect.Effect<Queue, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const runTimer = yield* FiberHandle.makeRuntime<never>()
    const advanceLater = (millis: number) =>
      runTimer(Effect.interruptible(Effect.delay(Effect.sync(() => queue.advance()), Math.ceil(millis))))
    const queue: Queue = new Queue(settings, () => monotonicMillis(clock), advanceLater)
    yield* onClose(Effect.sync(() => queue.close()))
    return queue
  })
