import * as AccessToken from "../../AccessToken.js"
import * as RefreshPolicy from "../../RefreshPolicy.js"
import type { Moment } from "../clock.js"
import * as Pause from "../pause.js"

/** What requests said about one token. */
interface Record {
  readonly token: AccessToken.AccessToken
  readonly isAccepted: boolean
  /** Rejections since the last acceptance. */
  readonly rejections: number
  /** Whether the renewal that brought this token helped a request. */
  readonly renewal: "unknown" | "helped" | "did not help"
  /** How many renewals in a row had not helped before the first verdict on this token. */
  readonly unhelpfulBefore: number
}

/**
 * What rejections of tokens say about the next renewal. Not every 403 is about the token. So renewals that do not help start
 * cool-downs: `coolDownAfter` of RefreshPolicy says when, and for how long.
 */
export interface Renewals {
  /** Of the last few tokens, since answers about an old token come late. The last record is the one that changed last. */
  readonly records: ReadonlyArray<Record>
  /** Renewals in a row that did not help. One that helps starts the count anew. */
  readonly unhelpful: number
  readonly coolDown: Pause.Pause | undefined
  /** The pause after a renewal that a revocation caused during a cool-down. No other renewal of that kind begins in it. */
  readonly revocation: Pause.Pause | undefined
}

const recordsKept = 4

/** Rejections in a row of a token that had been accepted, which mean a revocation. */
const revocationRejections = 8

/** The shortest time between two renewals that a revocation causes during a cool-down, in milliseconds. */
const revocationInterval = 5_000

export const initial: Renewals = { records: [], unhelpful: 0, coolDown: undefined, revocation: undefined }

const recordOf = ({ records }: Renewals, token: AccessToken.AccessToken): Record =>
  records.findLast((record) => AccessToken.isSame(record.token, token)) ??
    { token, isAccepted: false, rejections: 0, renewal: "unknown", unhelpfulBefore: 0 }

const withRecord = (self: Renewals, record: Record): Renewals => ({
  ...self,
  records: [...self.records.filter(({ token }) => !AccessToken.isSame(token, record.token)), record].slice(-recordsKept)
})

/** How often the token was rejected since it was accepted last. */
export const rejectionsOf = (self: Renewals, token: AccessToken.AccessToken): number => recordOf(self, token).rejections

/** The same renewals where the token was accepted before, as on nearly every request. */
export const accepted = (self: Renewals, token: AccessToken.AccessToken): Renewals => {
  const record = recordOf(self, token)
  return record.isAccepted && record.rejections === 0
    ? self
    : withRecord(self, { ...record, token, isAccepted: true, rejections: 0 })
}

export const rejected = (self: Renewals, token: AccessToken.AccessToken): Renewals => {
  const record = recordOf(self, token)
  return withRecord(self, { ...record, rejections: record.rejections + 1 })
}

/**
 * A request was accepted with the new token: the cool-down ends, and the next one is as short as the first. But where another
 * request was rejected with that token, the service refuses that request and not the token, and the cool-down stays.
 */
export const renewalHelped = (self: Renewals, token: AccessToken.AccessToken): Renewals => {
  const after = accepted(self, token)
  const record = recordOf(after, token)
  return record.renewal !== "unknown" ? after : {
    ...withRecord(after, { ...record, renewal: "helped", unhelpfulBefore: self.unhelpful }),
    unhelpful: 0,
    coolDown: undefined
  }
}

/** Raises the count to this one, and starts its cool-down, unless the one that stands has longer to go. */
const withUnhelpful = (
  self: Renewals,
  unhelpful: number,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): Renewals => {
  const duration = RefreshPolicy.coolDownAfter(policy, unhelpful)
  return {
    ...self,
    unhelpful: Math.max(self.unhelpful, unhelpful),
    coolDown: Pause.remaining(self.coolDown, now) > duration ? self.coolDown : Pause.start(now, duration)
  }
}

/** The new token was rejected too. Of many requests that were sent again with it, the first that is rejected counts. */
export const newTokenRejected = (
  self: Renewals,
  token: AccessToken.AccessToken,
  policy: RefreshPolicy.CheckedPolicy,
  now: Moment
): Renewals => {
  const record = recordOf(self, token)
  if (record.renewal === "did not help") return self
  const before = record.renewal === "helped" ? record.unhelpfulBefore : self.unhelpful
  return withUnhelpful(
    withRecord(self, { ...record, renewal: "did not help", unhelpfulBefore: before }),
    before + 1,
    policy,
    now
  )
}

/** The renewal brought no other token: its exchange failed, or gave back the very one that was rejected. Each such exchange counts. */
export const noNewToken = (self: Renewals, policy: RefreshPolicy.CheckedPolicy, now: Moment): Renewals =>
  withUnhelpful(self, self.unhelpful + 1, policy, now)

/** Whether the token was accepted once and every request has been rejected since: a revocation does not wait. */
const looksRevoked = ({ records, revocation }: Renewals, now: Moment): boolean => {
  const last = records.at(-1)
  return last !== undefined && last.isAccepted && last.rejections >= revocationRejections &&
    !Pause.isRunning(revocation, now)
}

/** Whether the token that was rejected last may be renewed now, and the renewals after that decision. */
export const mayRenew = (
  self: Renewals,
  now: Moment
): readonly [boolean, Renewals] =>
  !Pause.isRunning(self.coolDown, now)
    ? [true, self]
    : looksRevoked(self, now)
    ? [true, { ...self, revocation: Pause.start(now, revocationInterval) }]
    : [false, self]
