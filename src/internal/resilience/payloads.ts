import type * as Clock from "effect/Clock"
import { type Moment, momentOf } from "../clock.js"

interface Cached {
  readonly key: string
  readonly text: string
  readonly bytes: number
  /** When the payload came. */
  readonly at: Moment
}

/** A payload as JSON, and its age in milliseconds. */
export interface Kept {
  readonly text: string
  readonly age: number
}

/** Payloads by what was searched for: those used last stay. */
export interface Payloads {
  /** Nothing where it is too old to be of use. */
  readonly find: (key: string, clock: Clock.Clock) => Kept | undefined
  readonly keep: (key: string, text: string, clock: Clock.Clock) => void
}

/** The older age of both clocks: the wall clock also counts while a machine sleeps. One that was set back makes everything too old. */
const ageOf = ({ at }: Cached, now: Moment) => {
  const byWall = now.wall - at.wall
  return byWall < 0 ? Number.POSITIVE_INFINITY : Math.max(byWall, now.monotonic - at.monotonic)
}

const utf8 = new TextEncoder()

const bytesOf = (text: string) => utf8.encode(text).length

/** What V8 takes for each one beside its texts: 180 to 240 bytes. */
const overhead = 200

export const make = (maxBytes: number, maxAge: number): Payloads => {
  /** The one used last is the last one. */
  const byUse = new Map<string, Cached>()
  /** The one that came last is the last one, and so the last one to be too old. */
  const byAge = new Set<Cached>()
  let bytes = 0

  const remove = (cached: Cached) => {
    byUse.delete(cached.key)
    byAge.delete(cached)
    bytes -= cached.bytes
  }

  const removeOld = (now: Moment) => {
    for (const cached of byAge) {
      if (ageOf(cached, now) <= maxAge) return
      remove(cached)
    }
  }

  const find: Payloads["find"] = (key, clock) => {
    const cached = byUse.get(key)
    if (cached === undefined) return undefined
    const age = ageOf(cached, momentOf(clock))
    if (age > maxAge) {
      remove(cached)
      return undefined
    }
    byUse.delete(key)
    byUse.set(key, cached)
    return { text: cached.text, age }
  }

  const keep: Payloads["keep"] = (key, text, clock) => {
    const at = momentOf(clock)
    removeOld(at)
    const before = byUse.get(key)
    if (before !== undefined) remove(before)
    const cached: Cached = { key, text, bytes: bytesOf(key) + bytesOf(text) + overhead, at }
    if (cached.bytes > maxBytes) return
    for (const [, leastUsed] of byUse) {
      if (bytes + cached.bytes <= maxBytes) break
      remove(leastUsed)
    }
    byUse.set(key, cached)
    byAge.add(cached)
    bytes += cached.bytes
  }

  return { find, keep }
}
