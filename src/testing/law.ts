import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { boundedBy } from "../internal/fork.js"
import { SharedTokenCacheError } from "../SharedTokenCache.js"

/** The service broke the law `title`; `seen` is what it did instead. It holds no entry, no token and no name. */
export class LawBroken extends Schema.TaggedError<LawBroken>("effect-nutrition-advisor/LawBroken")("LawBroken", {
  title: Schema.String,
  seen: Schema.String
}) {
  override get message(): string {
    return `${this.title}: ${this.seen}.`
  }
}

/** A promise of the service `R`: `holds` succeeds or ends in LawBroken, within ten seconds of the real clock. */
export interface Law<R> {
  readonly title: string
  readonly holds: Effect.Effect<void, LawBroken, R | Scope.Scope>
}

/** The kind of a failure only: the text of a foreign error may hold an entry. */
const kindOf = (cause: Cause.Cause<unknown>): string => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof SharedTokenCacheError) return `ended in ${failure._tag} (${failure.code ?? failure.reason})`
  if (failure !== undefined) return "ended in a failure of another type"
  const defect = Option.getOrUndefined(Cause.dieOption(cause))
  const name = defect instanceof Error && /^\w{1,40}$/.test(defect.name) ? ` (${defect.name})` : ""
  return defect === undefined ? "interrupted itself" : `ended in a defect${name}`
}

const within = (seconds: number, name: string) =>
  boundedBy(seconds * 1_000, () => `${name} gave no answer in ${seconds} seconds`)

/** A call of the service, bounded also where it can't be interrupted. It fails with what was seen. */
export const call = <A, E, R>(name: string, effect: () => Effect.Effect<A, E, R>): Effect.Effect<A, string, R> =>
  Effect.suspend(effect).pipe(
    Effect.catchAllCause((cause) => Effect.fail(`${name} ${kindOf(cause)}`)),
    within(4, name)
  )

/** What was seen breaks the law unless `holds`. */
export const see = (seen: string, holds: boolean): Effect.Effect<void, string> =>
  holds ? Effect.void : Effect.fail(seen)

/** The call has to tell just this. */
export const tells = (name: string, told: Effect.Effect<boolean, string>, expected: boolean) =>
  Effect.flatMap(
    told,
    (told) =>
      see(`${name} told ${typeof told === "boolean" ? told : "no boolean"} and not ${expected}`, told === expected)
  )

/** Of the shape and the size of the library's own names. */
export const randomText = (): string => Encoding.encodeBase64Url(globalThis.crypto.getRandomValues(new Uint8Array(32)))

/** What a law does, one after the other, until one fails with what was seen. */
export type Steps = ReadonlyArray<Effect.Effect<unknown, string, Scope.Scope>>

/** A law of these steps. Its time is that of the real clock, whichever clock the caller has. */
export const make = <R>(title: string, steps: Effect.Effect<Steps, never, R>): Law<R> => ({
  title,
  holds: Effect.flatMap(steps, (steps) => Effect.all(steps, { discard: true })).pipe(
    Effect.catchAllDefect((defect) => Effect.fail(`reading an answer ${kindOf(Cause.die(defect))}`)),
    within(9, "the service"),
    Effect.mapError((seen) => new LawBroken({ title, seen })),
    Effect.withClock(Clock.make())
  )
})
