import type * as Context from "effect/Context"

/**
 * The request appears in the trace of its first caller, and also runs if that caller is already interrupted: in Effect 4, a context doesn't
 * contain whether its fiber is interrupted.
 */
const notInterrupted = (caller: Context.Context<never>) => caller
