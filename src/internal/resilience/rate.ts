import type * as Effect from "effect/Effect"
import type { Moment } from "../clock.js"

/** At most so many beginnings in any interval. All times are milliseconds of the monotonic clock. */
export interface Rate {
  /** How long until the next one may begin, of which so many others begin before it. */
  readonly wait: (now: number, ahead: number) => number
  readonly begin: (now: number) => void
  /** Where others share the rate, and have to be asked. */
  readonly limiter?: Limiter
}

export interface Question {
  /** How many wait for a turn: another number once the answer comes. */
  readonly waiting: () => number
  /** Milliseconds in which the answer has to come. */
  readonly within: number
  readonly onAnswer: () => void
}

/** Grants turns of a shared rate to those who wait, whoever they are: one who has left may leave its turn to the next one. */
export interface Limiter {
  /** Whether one may begin now: a turn was granted, or nobody can say who may begin. */
  readonly mayBegin: (now: number) => boolean
  /** Whether nobody can say who may begin. */
  readonly isSilent: (now: number) => boolean
  /** Whether an answer is still to come. */
  readonly isAsked: () => boolean
  /** Asks for turns. It does not wait for the answer, and does nothing where one is still to come. */
  readonly ask: (question: Question) => Effect.Effect<void>
  /** Turns that were granted before now are not used any more. */
  readonly forget: () => void
  /** Warns of failures since the last warning. */
  readonly warn: (now: Moment) => Effect.Effect<void>
}

export const unlimited: Rate = { wait: () => 0, begin: () => {} }

/** Keeps the times of the last ones. */
export const make = (limit: number, interval: number): Rate => {
  const times: Array<number> = []
  let begun = 0
  return {
    wait: (now, ahead) => {
      const before = times[(begun + ahead) % limit]
      const turns = Math.floor(ahead / limit) * interval
      return before === undefined ? turns : Math.max(0, before + interval - now) + turns
    },
    begin: (now) => {
      times[begun % limit] = now
      begun += 1
    }
  }
}
