import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isLoopback } from "./settings.js"

/** The layers for the same settings that are open. */
interface Open {
  readonly count: number
  /** When the last of them was built. */
  readonly at: number
  readonly isWarned: boolean
}

const minute = 60_000

const open = new Map<number, Open>()

const note = (identity: number, now: number): boolean => {
  const previous = open.get(identity)
  const shouldWarn = previous !== undefined && !previous.isWarned && Math.abs(now - previous.at) <= minute
  open.set(identity, {
    count: (previous?.count ?? 0) + 1,
    at: now,
    isWarned: shouldWarn || (previous?.isWarned ?? false)
  })
  return shouldWarn
}

const forget = (identity: number) => {
  const known = open.get(identity)
  if (known === undefined || known.count === 1) open.delete(identity)
  else open.set(identity, { ...known, count: known.count - 1 })
}

/**
 * Where the simulator answers: at a host that RFC 2606 section 2 leaves without a service, or on a port of this machine. There a
 * test builds as many layers as it needs.
 */
const isSimulated = (baseUrl: string | URL) => {
  if (!URL.canParse(String(baseUrl))) return false
  const { hostname, protocol } = new URL(baseUrl)
  return hostname.endsWith(".invalid") || (protocol === "http:" && isLoopback(hostname))
}

/**
 * Warns once where a second layer for the same settings is built within a minute, while the first one is open: each buys a token
 * of its own, as happens where a service provides the layer per call.
 */
export const noteLayer = (identity: number, baseUrl: string | URL): Effect.Effect<void, never, Scope.Scope> =>
  isSimulated(baseUrl) ? Effect.void : Effect.acquireRelease(
    Effect.clockWith((clock) => Effect.sync(() => note(identity, clock.unsafeCurrentTimeMillis()))),
    () => Effect.sync(() => forget(identity))
  ).pipe(
    Effect.flatMap((shouldWarn) =>
      shouldWarn
        ? Effect.logWarning(
          "A second NutritionAdvisor layer was built for the same license key within a minute. Each layer buys a token of " +
            "its own: build one for the whole process, for example with ManagedRuntime.make."
        )
        : Effect.void
    )
  )
