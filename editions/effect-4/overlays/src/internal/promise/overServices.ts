import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { NutritionAdvisor } from "../../NutritionAdvisor.js"

type Services = Context.Context<NutritionAdvisor>

/** No FiberRefs are needed: in Effect 4, they are part of the context. */
export const forkOver = (services: Services) => <A>(call: Effect.Effect<A, unknown, NutritionAdvisor>) =>
  Effect.runForkWith(services)(call)

export const continueOver = <A>(services: Services, call: Effect.Effect<A, unknown, NutritionAdvisor>) =>
  Effect.provide(call, services)
