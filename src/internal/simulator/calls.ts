import * as Effect from "effect/Effect"
import { Operation } from "../../NutritionAdvisorError.js"
import type { Disturbance } from "./fault.js"
import type { SeenRequest, SimulatedResponse, State } from "./model.js"

/** A response that a call gets instead of the service's own. */
export interface Plan {
  readonly response: SimulatedResponse | Disturbance
  /** The name of the fault, if it is one. */
  readonly fault: string | null
}

const seenAtMost = 1_000

const noPlans = (): Record<Operation, Array<Plan>> => ({ token: [], search: [], request: [] })

/** The calls that the simulated service received, and the planned responses to the next ones. */
export class SimulatorCalls {
  readonly counted = { token: 0, search: 0, request: 0 }
  exchangesAtOnce = 0
  readonly seen: Array<SeenRequest> = []
  next = noPlans()
  always: Partial<Record<Operation, Plan | undefined>> = {}
  private exchangesRunning = 0

  add(request: SeenRequest) {
    this.counted[request.operation] += 1
    this.seen.push(request)
    if (this.seen.length > seenAtMost) this.seen.shift()
  }

  takePlan(operation: Operation): Plan | undefined {
    return this.next[operation].shift() ?? this.always[operation]
  }

  /** The remaining plans, in the order in which calls get them. Equal ones in a row are one entry. */
  plans(): State["faults"] {
    return Operation.literals.flatMap((operation) => {
      const runs: Array<{ readonly plan: Plan; times: number | null }> = []
      for (const plan of this.next[operation]) {
        const last = runs.at(-1)
        if (last?.times != null && last.plan.fault === plan.fault) last.times += 1
        else runs.push({ plan, times: 1 })
      }
      const always = this.always[operation]
      if (always !== undefined) runs.push({ plan: always, times: null })
      return runs.map(({ plan: { fault }, times }) => ({ operation, fault, times }))
    })
  }

  clearPlans() {
    this.next = noPlans()
    this.always = {}
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
}
