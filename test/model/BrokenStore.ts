import { Effect, Redacted } from "effect"
import type { TokenStore } from "effect-nutrition-advisor"

export const calls = ["current", "put", "invalidate"] as const

export const faults = ["hang", "late", "die", "nonsense"] as const

export interface Fault {
  readonly call: typeof calls[number]
  readonly fault: typeof faults[number]
}

/** What a part of the user's dies of in a model; nobody may ever see it. */
export const secret = "secret-of-a-part"

const wiped = Redacted.make("wiped")
Redacted.unsafeWipe(wiped)

/** What code without types may hand over in the place of a token. */
export const nonsense: ReadonlyArray<unknown> = [
  undefined,
  "a token",
  { value: wiped, serviceId: wiped, receivedAt: 0, expiresAt: 1e15 },
  { value: Redacted.make("a"), serviceId: Redacted.make("b"), receivedAt: Number.NaN, expiresAt: Number.NaN }
]

/** Longer than any bound, and can't be interrupted. */
export const late = Effect.uninterruptible(Effect.sleep("15 seconds"))

/** A store of the user's of which each call meets the next fault that is planned for it. */
export const around = (inner: TokenStore.Service, planned: Array<Fault>, pick: <A>(all: ReadonlyArray<A>) => A) => {
  const after = <A>(call: Fault["call"], effect: Effect.Effect<A>) =>
    Effect.suspend((): Effect.Effect<A> => {
      const index = planned.findIndex((fault) => fault.call === call)
      const [fault] = index === -1 ? [] : planned.splice(index, 1)
      switch (fault?.fault) {
        case undefined:
          return effect
        case "hang":
          return Effect.never
        case "late":
          return Effect.zipRight(late, effect)
        case "die":
          return Effect.die(new Error(secret))
        case "nonsense":
          return Effect.succeed(pick(nonsense) as never)
      }
    })
  const store: TokenStore.Service = {
    current: after("current", inner.current),
    put: (token) => after("put", inner.put(token)),
    invalidate: (used) => after("invalidate", inner.invalidate(used))
  }
  return store
}
