import { Operation } from "../../NutritionAdvisorError.js"
import type { State } from "../Simulator.js"
import type { Responder } from "./fault.js"

/** A response that a request gets instead of the service's own. */
export interface PlannedResponse {
  readonly respond: Responder
  /** The name of the fault, if it is one. */
  readonly fault: string | null
}

const none = (): Record<Operation, Array<PlannedResponse>> => ({ token: [], search: [], request: [] })

export class PlannedResponses {
  private next = none()
  private always: Partial<Record<Operation, PlannedResponse | undefined>> = {}

  /** Adds responses to the next requests, after those that are planned already. */
  addNext(operation: Operation, planned: ReadonlyArray<PlannedResponse>) {
    this.next[operation].push(...planned)
  }

  setAlways(operation: Operation, planned: PlannedResponse | undefined) {
    this.always[operation] = planned
  }

  clear() {
    this.next = none()
    this.always = {}
  }

  take(operation: Operation): PlannedResponse | undefined {
    return this.next[operation].shift() ?? this.always[operation]
  }

  /** The remaining ones, in the order in which requests get them. Equal ones in a row are one entry. */
  remaining(): State["faults"] {
    return Operation.literals.flatMap((operation) => {
      const runs: Array<{ readonly operation: Operation; readonly fault: string | null; times: number }> = []
      for (const { fault } of this.next[operation]) {
        const last = runs.at(-1)
        if (last?.fault === fault) last.times += 1
        else runs.push({ operation, fault, times: 1 })
      }
      const always = this.always[operation]
      return always === undefined ? runs : [...runs, { operation, fault: always.fault, times: null }]
    })
  }
}
