import type * as Clock from "effect/Clock"
import { type Moment, momentOf } from "../clock.js"

interface Entry {
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
const ageOf = ({ at }: Entry, now: Moment) => {
  const byWall = now.wall - at.wall
  return byWall < 0 ? Number.POSITIVE_INFINITY : Math.max(byWall, now.monotonic - at.monotonic)
}

const utf8 = new TextEncoder()

const bytesOf = (text: string) => utf8.encode(text).length

/** What V8 takes for an entry beside its texts: 180 to 240 bytes. */
const overhead = 200

export const make = (maxBytes: number, maxAge: number): Payloads => {
  /** The one used last is the last one. */
  const entries = new Map<string, Entry>()
  /** The one that came last is the last one, and so the last one to be too old. */
  const byAge = new Set<Entry>()
  let bytes = 0

  const remove = (entry: Entry) => {
    entries.delete(entry.key)
    byAge.delete(entry)
    bytes -= entry.bytes
  }

  const removeOld = (now: Moment) => {
    for (const entry of byAge) {
      if (ageOf(entry, now) <= maxAge) return
      remove(entry)
    }
  }

  const find: Payloads["find"] = (key, clock) => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    const age = ageOf(entry, momentOf(clock))
    if (age > maxAge) {
      remove(entry)
      return undefined
    }
    entries.delete(key)
    entries.set(key, entry)
    return { text: entry.text, age }
  }

  const keep: Payloads["keep"] = (key, text, clock) => {
    const at = momentOf(clock)
    removeOld(at)
    const before = entries.get(key)
    if (before !== undefined) remove(before)
    const entry: Entry = { key, text, bytes: bytesOf(key) + bytesOf(text) + overhead, at }
    if (entry.bytes > maxBytes) return
    for (const [, leastUsed] of entries) {
      if (bytes + entry.bytes <= maxBytes) break
      remove(leastUsed)
    }
    entries.set(key, entry)
    byAge.add(entry)
    bytes += entry.bytes
  }

  return { find, keep }
}
