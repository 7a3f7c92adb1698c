/** The two ways to keep many searches running. */
import { performance } from "node:perf_hooks"

/** Each search is a promise. */
export const byPromise = (search, close = () => Promise.resolve()) => {
  const worker = async ({ nextTerm, onResult }) => {
    for (let term = nextTerm(); term !== undefined; term = nextTerm()) {
      const searchedAt = performance.now()
      onResult(searchedAt, await search(term))
    }
  }
  const drive = (load) => Promise.all(Array.from({ length: load.concurrency }, () => worker(load)))
  return { search, drive, close }
}

/** One run of Effect, in which each worker is a fiber. */
export const byFiber = (Effect, search, close) => {
  const worker = ({ nextTerm, onResult }) =>
    Effect.suspend(() => {
      let searchedAt = 0
      let term = nextTerm()
      return Effect.whileLoop({
        while: () => term !== undefined,
        body: () => {
          searchedAt = performance.now()
          return search(term)
        },
        step: (value) => {
          onResult(searchedAt, value)
          term = nextTerm()
        }
      })
    })
  const drive = (load) =>
    Effect.runPromise(
      Effect.forEach(Array.from({ length: load.concurrency }), () => worker(load), {
        concurrency: "unbounded",
        discard: true
      })
    )
  return { search: (term) => Effect.runPromise(search(term)), drive, close }
}
