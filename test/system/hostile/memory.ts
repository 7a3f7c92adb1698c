import { Effect } from "effect"
import * as OrderedProcess from "../storms/OrderedProcess.js"
import type { Measured, Order } from "./memoryProcess.js"

const args = ["--expose-gc", "--max-old-space-size=1024", "--import", "tsx", "test/system/hostile/memoryProcess.ts"]

/** Carries an order out in a process of its own. */
export const measured = (order: Order) =>
  Effect.scoped(Effect.flatMap(OrderedProcess.start<object, Order, Measured>(args), ({ tell }) => tell(order)))
