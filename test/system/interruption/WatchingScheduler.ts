import type { Fiber } from "effect"
import { ShakenScheduler } from "../../support/model/ShakenScheduler.js"

/** Calls back before each operation of one fiber, which yields there if the callback says so. */
export class WatchingScheduler extends ShakenScheduler {
  watched: { readonly fiber: Fiber.RuntimeFiber<unknown, unknown>; readonly onOperation: () => boolean } | undefined

  protected override yields(operations: number, fiber: Fiber.RuntimeFiber<unknown, unknown>) {
    const yields = super.yields(operations, fiber)
    return this.watched?.fiber === fiber && this.watched.onOperation() || yields
  }
}
