import type * as Clock from "effect/Clock"
import { monotonicOf } from "../clock.js"

interface Entry {
  readonly text: string
  readonly bytes: number
  /** When the payload came, in milliseconds of the wall clock and of the monotonic one. */
  readonly wall: number
  readonly monotonic: number
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
const ageOf = ({ monotonic, wall }: Entry, clock: Clock.Clock) => {
  const byWall = clock.unsafeCurrentTimeMillis() - wall
  return byWall < 0 ? Number.POSITIVE_INFINITY : Math.max(byWall, monotonicOf(clock) - monotonic)
}

const utf8 = new TextEncoder()

export const make = (maxBytes: number, maxAge: number): Payloads => {
  /** The one used last is the last one. */
  const entries = new Map<string, Entry>()
  let bytes = 0

  const remove = (key: string, entry: Entry) => {
    entries.delete(key)
    bytes -= entry.bytes
  }

  const find: Payloads["find"] = (key, clock) => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    const age = ageOf(entry, clock)
    if (age > maxAge) {
      remove(key, entry)
      return undefined
    }
    entries.delete(key)
    entries.set(key, entry)
    return { text: entry.text, age }
  }

  const keep: Payloads["keep"] = (key, text, clock) => {
    const before = entries.get(key)
    if (before !== undefined) remove(key, before)
    const size = utf8.encode(text).length
    if (size > maxBytes) return
    for (const [oldest, entry] of entries) {
      if (bytes + size <= maxBytes) break
      remove(oldest, entry)
    }
    entries.set(key, { text, bytes: size, wall: clock.unsafeCurrentTimeMillis(), monotonic: monotonicOf(clock) })
    bytes += size
  }

  return { find, keep }
}
