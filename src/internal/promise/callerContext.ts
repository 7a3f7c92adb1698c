import * as Scheduler from "effect/Scheduler"
import { inCurrentContext } from "../runtime/asyncContext.js"

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
