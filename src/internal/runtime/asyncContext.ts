import type * as AsyncHooks from "node:async_hooks"

/** Not every runtime has a process, and older ones can't load a module in this way. */
interface AnyProcess {
  readonly getBuiltinModule?: (id: "node:async_hooks") => typeof AsyncHooks | undefined
}

const { process }: { readonly process?: AnyProcess } = globalThis

const AsyncResource = process?.getBuiltinModule?.("node:async_hooks")?.AsyncResource

type RunInContext = <A>(run: () => A) => A

/** Returns a function that runs others in the current `AsyncLocalStorage` context. `AsyncLocalStorage.snapshot` is slow before Node 24. */
export const inCurrentContext = (): RunInContext => {
  if (AsyncResource === undefined) return (run) => run()
  const resource = new AsyncResource("effect-nutrition-advisor")
  return (run) => resource.runInAsyncScope(run)
}

/**
 * Runs a function in the `AsyncLocalStorage` context in which this module was loaded, for timers that outlive the call that sets them.
 * Otherwise, all that follows would be logged and traced as part of that call, and its context would never be freed.
 */
export const outsideOfCalls: RunInContext = inCurrentContext()
