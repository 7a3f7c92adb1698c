/**
 * Searches from async code with a ManagedRuntime, which builds the layer once. With `Effect.provide` inside each `Effect.runPromise`, every
 * call would build a new layer, which fetches its own token.
 * `npx tsx examples/run-promise.ts` needs nothing besides the package.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"

const terms = ["apple", "oats", "lentils"]

const simulated = ManagedRuntime.make(Simulator.layerHttpClient())

const Advisor = NutritionAdvisor.layer({
  baseUrl: Simulator.baseUrl,
  licenseKey: Simulator.licenseKey
}).pipe(Layer.provide(Layer.effectContext(Effect.map(simulated.runtimeEffect, ({ context }) => context))))

const exchangesSoFar = async () => {
  const { exchanges } = await simulated.runPromise(Effect.flatMap(Simulator.Simulator, ({ counters }) => counters))
  return exchanges
}

const once = async () => {
  const runtime = ManagedRuntime.make(Advisor)
  for (const term of terms) await runtime.runPromise(NutritionAdvisor.search(term))
  await runtime.dispose()
}

const perCall = async () => {
  for (const term of terms) await Effect.runPromise(NutritionAdvisor.search(term).pipe(Effect.provide(Advisor)))
}

await once()
const afterOnce = await exchangesSoFar()
console.log(`${terms.length} searches with one layer for the process: ${afterOnce} token`)

await perCall()
console.log(`${terms.length} searches with a layer for each call: ${await exchangesSoFar() - afterOnce} tokens`)

await simulated.dispose()
