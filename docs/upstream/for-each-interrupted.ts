import { Effect, Fiber } from "effect"

/** Whether the effect can be interrupted while its fiber yields, so many steps after its start. */
const canEnd = (effect: Effect.Effect<unknown, unknown>, steps: number) => {
  let delayed = effect
  for (let step = 0; step < steps; step++) {
    const next = delayed
    delayed = Effect.suspend(() => next)
  }
  const interrupted = Effect.runPromise(Fiber.interrupt(Effect.runFork(delayed))).then(() => true)
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 1_000, false))
  return Promise.race([interrupted, late])
}

const concurrent = Effect.forEach([1, 2], () => Effect.sleep("10 millis"), { concurrency: "unbounded", discard: true })

for (let steps = 0; steps < 2_048; steps++) {
  if (!await canEnd(concurrent, steps)) console.log(`after ${steps} steps it can't be interrupted`)
}

process.exit()
