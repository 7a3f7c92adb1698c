import type * as Scheduler from "effect/Scheduler"

/** No scheduler is needed: Effect 4 restores the `AsyncLocalStorage` context of each fiber itself. */
export const schedulerOfCaller = (): Scheduler.Scheduler | undefined => undefined
