import type * as Effect from "effect/Effect"

/** At most so many beginnings in any interval. All times are milliseconds of the monotonic clock. */
export interface Rate {
  /** How long until the next one may begin, of which so many others begin before it. */
  readonly wait: (now: number, ahead: number) => number
  readonly begin: (now: number) => void
  /** Where the rate is shared: whether one may begin now, asked for no longer than so many milliseconds. */
  readonly ask?: (millis: number) => Effect.Effect<boolean>
  /** Where the rate is shared: whether nobody can say who may begin. */
  readonly isSilent?: (now: number) => boolean
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
