/** A client whose searches are effects, run by many fibers of one run. */
import { performance } from "node:perf_hooks"
import { Effect } from "effect"
import { isPayload, term } from "../payload.js"
import type { Watch } from "../Watch.js"
import type { Client, Landing } from "./Client.js"

export type Search = (term: string) => Effect.Effect<unknown, unknown>

const worker = (search: Search, watch: Watch) =>
  Effect.suspend(() => {
    let begun = 0
    return Effect.whileLoop({
      while: () => watch.isOpen,
      body: () => {
        begun = performance.now()
        return search(watch.nextTerm())
      },
      step: (answer) => watch.note(begun, answer)
    })
  })

const storm = (search: Search, searches: number) =>
  Effect.suspend(() => {
    let failures = 0
    let firstFailure: string | undefined
    const failed = (reason: unknown) => {
      failures += 1
      firstFailure ??= String(reason)
    }
    const succeeded = (answer: unknown) => isPayload(answer) ? undefined : failed("not the answer to a search")
    const one = (index: number) =>
      Effect.matchCauseEffect(search(term(index)), {
        onFailure: (cause) => Effect.sync(() => failed(cause)),
        onSuccess: (answer) => Effect.sync(() => succeeded(answer))
      })
    return Effect.forEach(Array.from({ length: searches }, (_, index) => index), one, {
      concurrency: "unbounded",
      discard: true
    }).pipe(Effect.map((): Landing => firstFailure === undefined ? { failures } : { failures, firstFailure }))
  })

export const fibers = (search: Search, close: () => Promise<void> = () => Promise.resolve()): Client => ({
  drive: (watch, concurrency) =>
    Effect.runPromise(
      Effect.forEach(Array.from({ length: concurrency }), () => worker(search, watch), {
        concurrency: "unbounded",
        discard: true
      })
    ),
  storm: (searches) => Effect.runPromise(storm(search, searches)),
  close
})
