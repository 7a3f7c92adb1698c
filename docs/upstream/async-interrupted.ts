import { Effect, Fiber } from "effect"

/** What becomes of a callback whose fiber is interrupted as it yields, so many steps after its start. */
const stateAfter = async (steps: number) => {
  let state = "not begun"
  let effect: Effect.Effect<unknown> = Effect.async<never>(() => {
    state = "begun, never canceled"
    return Effect.sync(() => {
      state = "canceled"
    })
  })
  for (let step = 0; step < steps; step++) {
    const next = effect
    effect = Effect.suspend(() => next)
  }
  await Effect.runPromise(Fiber.interrupt(Effect.runFork(effect)))
  return state
}

for (let steps = 0; steps < 2_048; steps++) {
  const state = await stateAfter(steps)
  if (state === "begun, never canceled") console.log(`after ${steps} steps: ${state}`)
}
