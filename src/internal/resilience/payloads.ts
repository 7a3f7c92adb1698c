import * as MutableHashMap from "effect/MutableHashMap"
import * as Option from "effect/Option"
import type { SearchKey } from "./searchKey.js"

/** Parses a payload again for each caller, so that none sees what another does to it. */
export type Reader = () => unknown

/** Undefined if the payload is nested deeper than the stack, or isn't JSON (the payload of a double may not be). */
export const readerOf = (payload: unknown): Reader | undefined => {
  const text = Option.getOrUndefined(Option.liftThrowable(JSON.stringify)(payload))
  return text === undefined ? undefined : () => JSON.parse(text)
}

/** A payload, kept until a time of the monotonic clock, in milliseconds. */
interface Entry {
  readonly key: SearchKey
  readonly reader: Reader
  readonly until: number
}

/** Keeps at most `capacity` payloads. The one that was used least recently leaves first. */
export const make = (capacity: number) => {
  const entries = MutableHashMap.empty<SearchKey, Entry>()
  const byUse = new Set<Entry>()

  const remove = (entry: Entry) => {
    byUse.delete(entry)
    MutableHashMap.remove(entries, entry.key)
  }

  const find = (key: SearchKey) => Option.getOrUndefined(MutableHashMap.get(entries, key))

  return {
    put: (entry: Entry) => {
      const former = find(entry.key)
      if (former !== undefined) remove(former)
      MutableHashMap.set(entries, entry.key, entry)
      byUse.add(entry)
      const [leastUsed] = byUse
      if (byUse.size > capacity && leastUsed !== undefined) remove(leastUsed)
    },
    read: (key: SearchKey, now: number): Reader | undefined => {
      const entry = find(key)
      if (entry === undefined || entry.until <= now) return undefined
      byUse.delete(entry)
      byUse.add(entry)
      return entry.reader
    },
    clear: (): void => byUse.forEach(remove)
  }
}
