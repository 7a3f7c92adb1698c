import * as Effect from "effect/Effect"
import type { SeenRequest } from "../Simulator.js"

const keptRequests = 1_000

export class ReceivedRequests {
  readonly counted = { token: 0, search: 0, request: 0 }
  exchangesAtOnce = 0
  readonly last: Array<SeenRequest> = []
  private exchangesRunning = 0

  add(request: SeenRequest) {
    this.counted[request.operation] += 1
    this.last.push(request)
    if (this.last.length > keptRequests) this.last.shift()
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
