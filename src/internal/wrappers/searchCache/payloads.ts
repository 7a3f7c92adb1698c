import * as Option from "effect/Option"

/** Parses the payload again for each caller, so that callers don't see each other's changes. */
export type MakeCopy = () => unknown

interface Entry {
  readonly makeCopy: MakeCopy
  /** The time at which it expires, in milliseconds on the monotonic clock. */
  readonly until: number
}

/** Caches at most `capacity` payloads. The least recently used one is removed first. */
export const make = (capacity: number) => {
  /** The least recently used one is first, because a Map keeps the order in which keys are added. */
  const entries = new Map<string, Entry>()

  const touch = (key: string, entry: Entry): MakeCopy => {
    entries.delete(key)
    entries.set(key, entry)
    return entry.makeCopy
  }

  return {
    /**
     * A payload isn't cached or copied if it is nested too deeply for the stack, or if it isn't JSON, which can happen with a test double.
     */
    put: (key: string, payload: unknown, until: number): MakeCopy => {
      const text = Option.getOrUndefined(Option.liftThrowable(JSON.stringify)(payload))
      if (text === undefined) return () => payload
      const makeCopy = touch(key, { makeCopy: () => JSON.parse(text), until })
      const [leastUsed] = entries.keys()
      if (entries.size > capacity && leastUsed !== undefined) entries.delete(leastUsed)
      return makeCopy
    },
    find: (key: string, now: number): MakeCopy | undefined => {
      const entry = entries.get(key)
      return entry === undefined || entry.until <= now ? undefined : touch(key, entry)
    },
    clear: (): void => entries.clear()
  }
}
