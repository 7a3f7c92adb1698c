import * as Effect from "effect/Effect"
import type { Disturbance } from "./Fault.js"
import type { Answer, Operation, SeenRequest } from "./simulatorModel.js"

type Planned = Answer | Disturbance

const seenAtMost = 1_000

/** The calls that the simulated service has seen, and what a test has planned for the next ones. */
export class SimulatorCalls {
  readonly counted: Record<Operation, number> = { token: 0, search: 0, request: 0 }
  exchangesAtOnce = 0
  private exchangesRunning = 0
  private recent: Array<SeenRequest> = []
  private next: Readonly<Record<Operation, Array<Planned>>> = { token: [], search: [], request: [] }
  private always: Partial<Record<Operation, Planned | undefined>> = {}

  get seen(): ReadonlyArray<SeenRequest> {
    return this.recent.slice(-seenAtMost)
  }

  add(request: SeenRequest) {
    if (this.recent.length >= 2 * seenAtMost) this.recent = this.recent.slice(-seenAtMost)
    this.recent.push(request)
    this.counted[request.operation] += 1
  }

  readonly duringExchange = <A>(exchange: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        this.exchangesRunning += 1
        this.exchangesAtOnce = Math.max(this.exchangesAtOnce, this.exchangesRunning)
      }),
      () => exchange,
      () => Effect.sync(() => void (this.exchangesRunning -= 1))
    )

  takePlan(operation: Operation): Planned | undefined {
    return this.next[operation].shift() ?? this.always[operation]
  }

  planNext(operation: Operation, ...planned: ReadonlyArray<Planned>) {
    this.next[operation].push(...planned)
  }

  planAlways(operation: Operation, planned: Planned | undefined) {
    this.always[operation] = planned
  }

  clearPlans() {
    this.next = { token: [], search: [], request: [] }
    this.always = {}
  }
}
