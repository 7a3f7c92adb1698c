import type * as Clock from "effect/Clock"
import * as AccessToken from "../AccessToken.js"
import * as RefreshPolicy from "../RefreshPolicy.js"
import * as Pause from "./pause.js"

/** What requests said about one token. */
interface Record {
  readonly token: AccessToken.AccessToken
  readonly isAccepted: boolean
  readonly rejectedSince: number
  /** Whether the renewal that brought the token helped anyone. */
  readonly renewal: "unknown" | "helped" | "unhelpful"
  /** Renewals in a row that did not help, before the one that brought the token. */
  readonly unhelpfulBefore: number
}

/**
 * What rejections of tokens say about the next renewal. Not every 403 is about the token, so a renewal that did not help is
 * followed by a cool-down, and each further one by a longer one.
 */
export interface Rejections {
  /** Of the last few tokens, the one heard of last at the end: answers about an old token come late. */
  readonly records: ReadonlyArray<Record>
  readonly unhelpful: number
  readonly coolDown: Pause.Pause | undefined
  readonly revocation: Pause.Pause | undefined
}

const recordsKept = 4

export const none: Rejections = { records: [], unhelpful: 0, coolDown: undefined, revocation: undefined }

const recordOf = ({ records }: Rejections, token: AccessToken.AccessToken): Record =>
  records.find((record) => AccessToken.isSame(record.token, token)) ??
    { token, isAccepted: false, rejectedSince: 0, renewal: "unknown", unhelpfulBefore: 0 }

const note = (self: Rejections, record: Record): Rejections => ({
  ...self,
  records: [...self.records.filter(({ token }) => !AccessToken.isSame(token, record.token)), record].slice(-recordsKept)
})

export const accepted = (self: Rejections, used: AccessToken.AccessToken): Rejections =>
  note(self, { ...recordOf(self, used), token: used, isAccepted: true, rejectedSince: 0 })

export const rejected = (self: Rejections, used: AccessToken.AccessToken): Rejections => {
  const record = recordOf(self, used)
  return note(self, { ...record, rejectedSince: record.rejectedSince + 1 })
}

/**
 * A renewal that helped ends the cool-down. Where the same new token was also rejected again, it is the request that is
 * refused, and the cool-down stays.
 */
export const helped = (self: Rejections, used: AccessToken.AccessToken): Rejections => {
  const after = accepted(self, used)
  const record = recordOf(after, used)
  return record.renewal !== "unknown" ? after : {
    ...note(after, { ...record, renewal: "helped", unhelpfulBefore: self.unhelpful }),
    unhelpful: 0,
    coolDown: undefined
  }
}

/** A cool-down that has longer to go stays. */
const coolDown = (
  self: Rejections,
  unhelpful: number,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): Rejections => {
  const duration = RefreshPolicy.coolDownAfter(timing, unhelpful)
  return {
    ...self,
    unhelpful: Math.max(self.unhelpful, unhelpful),
    coolDown: Pause.remaining(self.coolDown, clock) > duration ? self.coolDown : Pause.start(clock, duration)
  }
}

/** The new token was rejected too. Of many requests that were sent again with it, the first that is rejected counts. */
export const rejectedAgain = (
  self: Rejections,
  used: AccessToken.AccessToken,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): Rejections => {
  const record = recordOf(self, used)
  if (record.renewal === "unhelpful") return self
  const before = record.renewal === "helped" ? record.unhelpfulBefore : self.unhelpful
  return coolDown(note(self, { ...record, renewal: "unhelpful", unhelpfulBefore: before }), before + 1, timing, clock)
}

/** The renewal brought no other token: its exchange failed, or handed back the very one that was rejected. Each counts. */
export const cameToNothing = (self: Rejections, timing: RefreshPolicy.Timing, clock: Clock.Clock): Rejections =>
  coolDown(self, self.unhelpful + 1, timing, clock)

/** Whether the token was accepted once and is refused by everyone since: a revocation does not wait for a cool-down. */
const looksRevoked = (
  { records, revocation }: Rejections,
  timing: RefreshPolicy.Timing,
  clock: Clock.Clock
): boolean => {
  const last = records.at(-1)
  return last !== undefined && last.isAccepted && last.rejectedSince >= timing.revocationRejections &&
    !Pause.stands(revocation, clock)
}

/** Whether the token that was rejected last may be renewed now, and the state after that was asked. */
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
