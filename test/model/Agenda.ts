/** What will happen, soonest first: a binary heap. */
export interface Agenda<A> {
  readonly add: (at: number, event: A) => void
  readonly next: () => readonly [at: number, event: A] | undefined
}

export const make = <A>(): Agenda<A> => {
  const heap: Array<readonly [at: number, event: A]> = []
  const at = (index: number) => heap[index]?.[0] ?? Number.POSITIVE_INFINITY
  const swap = (one: number, other: number) => {
    const first = heap[one]
    const second = heap[other]
    if (first === undefined || second === undefined) return
    heap[one] = second
    heap[other] = first
  }
  const rise = (index: number): void => {
    const parent = (index - 1) >> 1
    if (index === 0 || at(parent) <= at(index)) return
    swap(parent, index)
    rise(parent)
  }
  const sink = (index: number): void => {
    const left = 2 * index + 1
    const child = at(left + 1) < at(left) ? left + 1 : left
    if (at(index) <= at(child)) return
    swap(index, child)
    sink(child)
  }
  return {
    add: (time, event) => {
      heap.push([time, event])
      rise(heap.length - 1)
    },
    next: () => {
      const first = heap[0]
      const last = heap.pop()
      if (first === undefined || last === undefined) return undefined
      if (heap.length > 0) {
        heap[0] = last
        sink(0)
      }
      return first
    }
  }
}
