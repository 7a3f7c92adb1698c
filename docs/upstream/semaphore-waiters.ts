/** Run it with `node --expose-gc`: MiB that those who wait hold once half of the others has gone, one after the other. */
import { Effect } from "effect"

const heap = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

for (const waiters of [250, 500, 1_000, 2_000]) {
  const semaphore = await Effect.runPromise(Effect.makeSemaphore(16))
  const running: Array<() => void> = []
  const work = Effect.async((resume: (done: Effect.Effect<void>) => void) => {
    running.push(() => resume(Effect.void))
  })
  const before = heap()
  for (let index = 0; index < waiters; index++) Effect.runFork(semaphore.withPermits(1)(work))
  for (let index = 0; index < waiters / 2; index++) {
    running[index]?.()
    await new Promise((resolve) => setTimeout(resolve))
  }
  console.log(waiters, Math.round((heap() - before) / 2 ** 20))
}

process.exit()
