import type * as AsyncHooks from "node:async_hooks"

/** Not every runtime has a process, and older ones can't load a module in this way. */
interface AnyProcess {
  readonly getBuiltinModule?: (id: "node:async_hooks") => typeof AsyncHooks | undefined
}

const { process }: { readonly process?: AnyProcess } = globalThis

const findAsyncHooks = () => {
  try {
    return process?.getBuiltinModule?.("node:async_hooks")
  } catch {
    // In the Edge Runtime of Next.js, the method exists but throws.
    return undefined
  }
}

const asyncHooks = findAsyncHooks()

/** Keeps a context without keeping the process running. Without `hasRef`, `jest --detectOpenHandles` would report an open handle. */
const ContextResource = asyncHooks && class extends asyncHooks.AsyncResource {
  hasRef() {
    return false
  }
}

/** Returns a function that runs others in the current `AsyncLocalStorage` context. `AsyncLocalStorage.snapshot` is much slower on Node 20. */
export const inCurrentContext = (): <A>(run: () => A) => A => {
  const resource = ContextResource && new ContextResource("NutritionAdvisor")
  return (run) => resource ? resource.runInAsyncScope(run) : run()
}

/**
 * Runs a function in the `AsyncLocalStorage` context in which this module was loaded, for timers that outlive the call that sets them.
 * Otherwise, what they run would be logged and traced as part of that call, and would keep its context.
 */
export const outsideOfCalls = inCurrentContext()
