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
  /** The time of its last permit. */
  permittedAt: number
  /** Whether it has reached its first send. From then on, it needs another permit for each send. */
  hasReachedSend: boolean
  /** Whether the metric has counted it. */
  isCounted: boolean
}

interface Waiter {
  readonly request: QueuedRequest
  readonly since: number
  readonly deadline: number
  readonly permit: Deferred.Deferred<void, NutritionAdvisorError>
}

/** Whether a request gets a permit now, has to wait, or fails because it would wait too long. `millis` is its wait, as far as it is known. */
type Decision =
  | { readonly _tag: "Now" }
  | { readonly _tag: "Wait" | "TooLate"; readonly reason: "TooManyRequests" | "Rate"; readonly millis: number }

/** Whether the request is sent right after its permit, without waiting for a token in between. */
const isImmediate = ({ permittedAt }: QueuedRequest, now: number) => now - permittedAt < immediateMillis

const tooLate = ({ request: { operation } }: Waiter, millis: number) =>
  Exit.fail(new TooManyRequests({ operation, retryAfter: millis / 1000 }))

/** Grants permits. A request waits for one before it starts, and for another one before each send, unless it can still use its first one. */
export class Queue {
  /** They get their permits before those that wait to start. */
  private readonly waitingToSend = new Set<Waiter>()
  /** All have the same longest wait, so the first one has the earliest deadline. */
  private readonly waitingToStart = new Set<Waiter>()
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
        hasReachedSend: false,
        isCounted: false
      }
      const throttled = Effect.zipRight(this.awaitPermit(request), withGate(call, this.beforeSend(request)))
      return Effect.onExit(throttled, (exit) => Effect.sync(() => this.end(request, exit)))
    })
  }

  /** Grants permits until a request has to wait, and sets a timer to continue when that wait or a deadline ends. */
  advance(now = this.now()) {
    let timer = Number.POSITIVE_INFINITY
    for (const lane of [this.waitingToSend, this.waitingToStart]) {
      for (const waiter of lane) {
        const decision = this.decide(waiter, now)
        if (decision._tag === "Now") this.grant(waiter, now)
        else if (decision._tag === "TooLate") this.leave(waiter, tooLate(waiter, decision.millis))
        else {
          timer = Math.min(timer, decision.millis, waiter.deadline - now)
          if (lane === this.waitingToStart) break
        }
      }
    }
    if (timer < Number.POSITIVE_INFINITY) this.setTimer(timer)
  }

  /** Fails all requests that wait, and every later one. */
  close() {
    this.isClosed = true
    for (const waiter of [...this.waitingToSend, ...this.waitingToStart]) {
      this.leave(waiter, Exit.fail(closedError(waiter.request.operation)))
    }
  }

  private laneOf({ hasReachedSend }: QueuedRequest): Set<Waiter> {
    return hasReachedSend ? this.waitingToSend : this.waitingToStart
  }

  private awaitPermit(request: QueuedRequest): Effect.Effect<void, NutritionAdvisorError> {
    return Effect.uninterruptibleMask((restore) => {
      if (this.isClosed) return Effect.fail(closedError(request.operation))
      const now = this.now()
      const waiter: Waiter = {
        request,
        since: now,
        deadline: now + this.settings.maxWait - request.waited,
        permit: Deferred.unsafeMake(FiberId.none)
      }
      this.enqueue(waiter, now)
      const quit = Effect.sync(() => this.laneOf(request).delete(waiter))
      return Effect.onInterrupt(restore(Deferred.await(waiter.permit)), () => quit)
    })
  }

  /** Whether a request can be sent with its first permit: right after it, or later if the permit can be moved to now. */
  private canUsePermit(request: QueuedRequest, now: number): boolean {
    if (request.hasReachedSend || Hold.waitTime(this.hold, request, now) > 0) return false
    // It can be moved if it is the last permit, and no other request waits to send.
    const canMove = this.lastPermitted === request && this.waitingToSend.size === 0
    return isImmediate(request, now) || canMove
  }

  /** Runs just before a request is sent. If it has waited for a token, or is being resent, it needs another permit. */
  private beforeSend(request: QueuedRequest): Effect.Effect<void, NutritionAdvisorError> {
    return Effect.suspend(() => {
      const now = this.now()
      const canUsePermit = this.canUsePermit(request, now)
      request.hasReachedSend = true
      if (!canUsePermit) return this.awaitPermit(request)
      if (!isImmediate(request, now)) this.pace = Pace.startAt(now)
      this.hold = Hold.grant(this.hold, request, now)
      request.permittedAt = now
      return Effect.void
    })
  }

  private end(request: QueuedRequest, exit: Exit.Exit<unknown, NutritionAdvisorError>) {
    const { hold } = this
    this.hold = Hold.end(hold, request, exit, this.now())
    if (this.hold !== hold) this.advance()
  }

  private enqueue(waiter: Waiter, now: number) {
    const { request } = waiter
    const ahead = this.waitingToSend.size + (request.hasReachedSend ? 0 : this.waitingToStart.size)
    const decision = this.decide(waiter, now, ahead)
    if (decision._tag !== "Now" && !request.isCounted) {
      heldRequests.count({ reason: decision.reason })
      request.isCounted = true
    }
    if (decision._tag === "TooLate") return this.leave(waiter, tooLate(waiter, decision.millis))
    this.laneOf(request).add(waiter)
    // If others joined earlier, the timer for the first of them is already set, and also serves this one.
    if (decision._tag === "Now" || request.hasReachedSend || ahead === 0) this.advance(now)
  }

  private leave(waiter: Waiter, outcome: Exit.Exit<void, NutritionAdvisorError>) {
    waiter.request.waited += this.now() - waiter.since
    this.laneOf(waiter.request).delete(waiter)
    Deferred.unsafeDone(waiter.permit, outcome)
  }

  private grant(waiter: Waiter, now: number) {
    const { request, since } = waiter
    this.hold = Hold.grant(this.hold, request, now)
    this.pace = Pace.count(this.settings.rate, this.pace, now, now > since)
    this.lastPermitted = request
    request.permittedAt = now
    this.leave(waiter, Exit.void)
  }

  /** Decides about a request if `ahead` others get their permits before it. */
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
