import type * as Clock from "effect/Clock"
import * as AccessToken from "../AccessToken.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import * as Pause from "./pause.js"

/**
 * What rejections of tokens say about the next renewal. Not every 403 is about the token, so a renewal that did not help is
 * followed by a cool-down, and each further one by a longer one.
 */
export interface Rejections {
  /** Renewals in a row that did not help, the judged token's own not counted. */
  readonly unhelpfulBefore: number
  readonly unhelpful: number
  /** The token whose renewal was judged last. */
  readonly judged: AccessToken.AccessToken | undefined
  readonly coolDown: Pause.Pause | undefined
  /** The token of which acceptances and rejections are counted. */
  readonly watched: AccessToken.AccessToken | undefined
  readonly accepted: boolean
  readonly rejectedSince: number
  readonly revocation: Pause.Pause | undefined
}

export const none: Rejections = {
  unhelpfulBefore: 0,
  unhelpful: 0,
  judged: undefined,
  coolDown: undefined,
  watched: undefined,
  accepted: false,
  rejectedSince: 0,
  revocation: undefined
}

const isToken = (token: AccessToken.AccessToken | undefined, that: AccessToken.AccessToken) =>
  token !== undefined && AccessToken.isSame(token, that)

/** Whether an acceptance of this token would change nothing: the answer on nearly every request. */
export const knowsAccepted = (self: Rejections, used: AccessToken.AccessToken): boolean =>
  self.watched === used && self.accepted && self.rejectedSince === 0

export const accepted = (self: Rejections, used: AccessToken.AccessToken): Rejections =>
  self.watched !== undefined && used.receivedAt < self.watched.receivedAt
    ? self
    : { ...self, watched: used, accepted: true, rejectedSince: 0 }

export const rejected = (self: Rejections, used: AccessToken.AccessToken): Rejections =>
  isToken(self.watched, used)
    ? { ...self, rejectedSince: self.rejectedSince + 1 }
    : { ...self, watched: used, accepted: false, rejectedSince: 1 }

/**
 * A renewal that helped ends the cool-down. Where the same new token was also rejected again, it is the request that is
 * refused, and the cool-down stays.
 */
export const helped = (self: Rejections, used: AccessToken.AccessToken): Rejections =>
  isToken(self.judged, used)
    ? accepted(self, used)
    : {
      ...accepted(self, used),
      judged: used,
      unhelpfulBefore: self.unhelpful,
      unhelpful: 0,
      coolDown: undefined
    }

/** Of many requests that were sent again with one new token, the first that is rejected counts. */
export const didNotHelp = (
  self: Rejections,
  used: AccessToken.AccessToken,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): Rejections => {
  const sameToken = isToken(self.judged, used)
  const before = sameToken ? self.unhelpfulBefore : self.unhelpful
  const unhelpful = before + 1
  return sameToken && self.unhelpful === unhelpful ? self : {
    ...self,
    judged: used,
    unhelpfulBefore: before,
    unhelpful,
    coolDown: Pause.start(clock, RefreshPolicy.coolDownAfter(timing, unhelpful))
  }
}

/** Whether the token was accepted once and is refused by everyone since: a revocation does not wait for a cool-down. */
const looksRevoked = (self: Rejections, timing: RefreshPolicy.Timing, clock: Clock.Clock): boolean =>
  self.accepted && self.rejectedSince >= timing.revocationRejections && !Pause.stands(self.revocation, clock)

/** Whether a renewal may start now, and the state after it was asked for. */
export const mayRenew = (
  self: Rejections,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): readonly [boolean, Rejections] =>
  !Pause.stands(self.coolDown, clock)
    ? [true, self]
    : looksRevoked(self, timing, clock)
    ? [true, { ...self, revocation: Pause.start(clock, timing.revocationInterval) }]
    : [false, self]
