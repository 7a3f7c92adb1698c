/** The simulator as a process of its own, for the time of a scope. */
import { Effect, type Scope } from "effect"
import { bundle } from "../bundle.js"
import * as OrderedProcess from "./OrderedProcess.js"
import type { Greeting, Order, Sight } from "./simulatorProcess.js"

export interface SpawnedSimulator {
  readonly baseUrl: string
  readonly tell: (order: Order) => Effect.Effect<Sight>
  readonly sight: Effect.Effect<Sight>
}

export const make: Effect.Effect<SpawnedSimulator, never, Scope.Scope> = Effect.gen(function*() {
  const { file, remove } = yield* Effect.promise(() => bundle("test/system/storms/simulatorProcess.ts"))
  yield* Effect.addFinalizer(() => Effect.promise(remove))
  const { greeting, tell } = yield* OrderedProcess.start<Greeting, Order, Sight>([file])
  return { baseUrl: `http://127.0.0.1:${greeting.port}`, tell, sight: tell({ name: "look" }) }
})
