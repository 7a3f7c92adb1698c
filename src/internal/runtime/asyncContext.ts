import type * as AsyncHooks from "node:async_hooks"

/** Not every runtime has a process, and older ones can't load a module in this way. */
interface AnyProcess {
  readonly getBuiltinModule?: (id: "node:async_hooks") => typeof AsyncHooks | undefined
}

const { process }: { readonly process?: AnyProcess } = globalThis

export const asyncHooks = process?.getBuiltinModule?.("node:async_hooks")

/**
 * Runs a function in the `AsyncLocalStorage` context in which this module was loaded, for timers that outlive the call that sets them.
 * Otherwise, all that follows would be logged and traced as part of that call, and its context would never be freed.
 */
export const outsideOfCalls: <A>(run: () => A) => A = asyncHooks?.AsyncLocalStorage.snapshot() ?? ((run) => run())
