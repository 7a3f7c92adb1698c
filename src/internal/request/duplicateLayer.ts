import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { onClose } from "../runtime/onClose.js"

const warning =
  "A second NutritionAdvisor layer or client was opened for the same license key. Each one fetches its own token: " +
  "open one for the whole process, for example with ManagedRuntime.make or createClient."

/** Logs a warning if a second layer is open, for example because a service builds the layer for each call. */
export const warnAboutSecondLayer = (identity: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.zipRight(onClose(count(identity, -1)), count(identity, 1)).pipe(
    Effect.uninterruptible,
    Effect.flatMap((opened) => opened === 2 ? Effect.logWarning(warning) : Effect.void)
  )

/**
 * How many layers are open for the same settings. Only a count of the whole process can see a second layer that another part of the
 * program has built: the two share no scope and no context.
 */
const open = new Map<number, number>()

const count = (identity: number, change: number) =>
  Effect.sync(() => {
    const opened = (open.get(identity) ?? 0) + change
    if (opened > 0) open.set(identity, opened)
    else open.delete(identity)
    return opened
  })
