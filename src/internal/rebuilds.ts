import * as Effect from "effect/Effect"

interface Build {
  readonly at: number
  readonly warned: boolean
}

const minute = 60_000

const recent = new Map<number, Build>()

/**
 * Warns once where a second layer for the same settings is built within a minute: each buys a token of its own, as happens
 * where a service provides the layer per call.
 */
export const noteBuild = (identity: number): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    const now = clock.unsafeCurrentTimeMillis()
    for (const [known, { at }] of recent) {
      if (Math.abs(now - at) > minute) recent.delete(known)
    }
    const previous = recent.get(identity)
    recent.set(identity, { at: now, warned: previous !== undefined })
    return previous === undefined || previous.warned ? Effect.void : Effect.logWarning(
      "A second NutritionAdvisor layer was built for the same license key within a minute. Each layer buys a token of " +
        "its own: build one for the whole process, for example with ManagedRuntime.make."
    )
  })
