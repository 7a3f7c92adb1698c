import * as Effect from "effect/Effect"
import type { Operation, SeenRequest } from "./Answer.js"

const seenAtMost = 1_000

/** The calls that the simulated service has seen. */
export class SimulatorObservation {
  readonly calls: Record<Operation, number> = { token: 0, search: 0, request: 0 }
  exchangesAtOnce = 0
  private exchangesRunning = 0
  private seen: Array<SeenRequest> = []

  get requests(): ReadonlyArray<SeenRequest> {
    return this.seen.slice(-seenAtMost)
  }

  add(request: SeenRequest) {
    if (this.seen.length >= 2 * seenAtMost) this.seen = this.seen.slice(-seenAtMost)
    this.seen.push(request)
    this.calls[request.operation] += 1
  }

  readonly duringExchange = <A>(exchange: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        this.exchangesRunning += 1
        this.exchangesAtOnce = Math.max(this.exchangesAtOnce, this.exchangesRunning)
      }),
      () => exchange,
      () =>
        Effect.sync(() => {
          this.exchangesRunning -= 1
        })
    )
}
