/** Those who wait, in the order in which they came; each may leave at any time. */
export interface WaitingLine<A> {
  readonly add: (one: A) => void
  readonly remove: (one: A) => void
  readonly first: () => A | undefined
  readonly size: () => number
  readonly forEach: (f: (one: A) => void) => void
}

export const make = <A>(): WaitingLine<A> => {
  const places = new Map<A, number>()
  const waiting = new Map<number, A>()
  let next = 0
  /** No lower place is taken. */
  let lowest = 0

  const first = () => {
    while (lowest < next && !waiting.has(lowest)) lowest += 1
    return waiting.get(lowest)
  }

  return {
    first,
    add: (one) => {
      places.set(one, next)
      waiting.set(next, one)
      next += 1
    },
    remove: (one) => {
      const place = places.get(one)
      if (place === undefined) return
      places.delete(one)
      waiting.delete(place)
    },
    size: () => waiting.size,
    forEach: (f) => waiting.forEach(f)
  }
}
