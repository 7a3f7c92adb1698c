import * as Scheduler from "effect/Scheduler"
import { asyncHooks } from "../runtime/asyncContext.js"

/** Returns a function that runs others in the current `AsyncLocalStorage` context. `AsyncLocalStorage.snapshot` takes 15 to 20 µs on Node 20. */
const inCurrentContext = (): (run: () => void) => void => {
  if (asyncHooks === undefined) return (run) => run()
  const resource = new asyncHooks.AsyncResource("effect-nutrition-advisor")
  return (run) => resource.runInAsyncScope(run)
}

/**
 * Returns a scheduler for the fibers of one call, which resumes them in the `AsyncLocalStorage` context of its caller. Otherwise, a call that
 * waits for a token would continue in the context of the call that started the exchange.
 */
export const schedulerOfCaller = (scheduler = Scheduler.defaultScheduler): Scheduler.Scheduler => {
  const run = inCurrentContext()
  return Scheduler.make(
    (task, priority, fiber) => scheduler.scheduleTask(() => run(task), priority, fiber),
    (fiber) => scheduler.shouldYield(fiber)
  )
}
