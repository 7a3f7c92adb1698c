import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import type { SearchKey } from "./searchKey.js"

/** Parses the payload again for each caller, so that callers don't see each other's changes. */
export type MakeCopy = () => unknown

interface Entry {
  readonly key: SearchKey
  readonly makeCopy: MakeCopy
  /** The time at which it expires, in milliseconds on the monotonic clock. */
  readonly until: number
}

/** Caches at most `capacity` payloads. The least recently used one is removed first. */
export const make = (capacity: number) => {
  const entries = MutableHashMap.empty<SearchKey, Entry>()
  const byUse = new Set<Entry>()

  const remove = (entry: Entry) => {
    byUse.delete(entry)
    MutableHashMap.remove(entries, entry.key)
  }

  const entryOf = (key: SearchKey) => Option.getOrUndefined(MutableHashMap.get(entries, key))

  return {
    /**
     * A payload isn't cached or copied if it is nested too deeply for the stack, or isn't JSON, which can happen with a test double.
     */
    put: (key: SearchKey, payload: unknown, until: number): MakeCopy => {
      const text = Option.getOrUndefined(Option.liftThrowable(JSON.stringify)(payload))
      if (text === undefined) return () => payload
      const former = entryOf(key)
      if (former !== undefined) remove(former)
      const entry = { key, makeCopy: () => JSON.parse(text), until }
      MutableHashMap.set(entries, key, entry)
      byUse.add(entry)
      const [leastUsed] = byUse
      if (byUse.size > capacity && leastUsed !== undefined) remove(leastUsed)
      return entry.makeCopy
    },
    find: (key: SearchKey, now: number): MakeCopy | undefined => {
      const entry = entryOf(key)
      if (entry === undefined || entry.until <= now) return undefined
      byUse.delete(entry)
      byUse.add(entry)
      return entry.makeCopy
    },
    clear: (): void => byUse.forEach(remove)
  }
}
