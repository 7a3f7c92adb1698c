import * as Duration from "effect/Duration"
import type { Moment } from "./clock.js"
import * as Pause from "./pause.js"

/** What a log has to know of a thing that fails at times. */
export interface State {
  /** The last warning: its kind, and the time in which no other one of that kind is given. */
  readonly warning: { readonly kind: string; readonly quiet: Pause.Pause } | undefined
  /** The failures since the last success: when they began, and whether one of them was warned of. */
  readonly outage: { readonly since: number; readonly isTold: boolean } | undefined
}

export const initial: State = { warning: undefined, outage: undefined }

/** In milliseconds. */
const warningInterval = 60_000

/** Whether a failure is to be warned of: at most once a minute, and at each change of its kind. */
export const failed = (state: State, kind: string, now: Moment): readonly [boolean, State] => {
  const { outage, warning } = state
  const shouldWarn = kind !== warning?.kind || !Pause.isRunning(warning.quiet, now)
  return [shouldWarn, {
    warning: shouldWarn ? { kind, quiet: Pause.start(now, warningInterval) } : warning,
    outage: { since: outage?.since ?? now.wall, isTold: shouldWarn || (outage?.isTold ?? false) }
  }]
}

/** How many milliseconds the failures lasted that were warned of, if there were any. */
export const worked = (state: State, now: Moment): readonly [number | undefined, State] =>
  state.outage === undefined ? [undefined, state] : [
    state.outage.isTold ? Math.max(0, now.wall - state.outage.since) : undefined,
    { warning: state.warning, outage: undefined }
  ]

/** How long failures lasted, for people to read, to the second. */
export const inSeconds = (millis: number): string =>
  Duration.format(Duration.seconds(Math.max(1, Math.round(millis / 1000))))
