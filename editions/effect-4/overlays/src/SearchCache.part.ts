import type * as Context from "effect/Context"

/** In Effect 4, a context doesn't contain whether its fiber is interrupted. */
const notInterrupted = (caller: Context.Context<never>) => caller
