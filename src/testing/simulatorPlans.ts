import type { Answer, Operation } from "./Answer.js"
import type { Disturbance } from "./Fault.js"

type Planned = Answer | Disturbance

/** What a test has planned for the next calls of each operation. */
export class SimulatorPlans {
  private next: Readonly<Record<Operation, Array<Planned>>> = { token: [], search: [], request: [] }
  private always: Partial<Record<Operation, Planned | undefined>> = {}

  take(operation: Operation): Planned | undefined {
    return this.next[operation].shift() ?? this.always[operation]
  }

  addNext(operation: Operation, ...planned: ReadonlyArray<Planned>) {
    this.next[operation].push(...planned)
  }

  setAlways(operation: Operation, planned: Planned | undefined) {
    this.always[operation] = planned
  }

  clear() {
    this.next = { token: [], search: [], request: [] }
    this.always = {}
  }
}
