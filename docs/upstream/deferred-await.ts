/** Run it with `node --expose-gc`: bytes that each waiting fiber holds. */
import { Deferred, Effect } from "effect"

const waiters = 10_000

const deferred = await Effect.runPromise(Deferred.make<number>())
const list: Array<(effect: Effect.Effect<number>) => void> = []

const waits = {
  "Deferred.await": Deferred.await(deferred),
  "a list without a canceler": Effect.async<number>((resume) => {
    list.push(resume)
  })
}

const heap = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

for (const [name, wait] of Object.entries(waits)) {
  const before = heap()
  for (let index = 0; index < waiters; index++) Effect.runFork(wait)
  console.log(name, Math.round((heap() - before) / waiters))
}
