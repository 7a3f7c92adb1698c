/** A client whose searches are promises, one call each. */
import { performance } from "node:perf_hooks"
import { isPayload, term } from "../payload.js"
import type { Watch } from "../Watch.js"
import type { Client, Landing } from "./Client.js"

export type Search = (term: string) => Promise<unknown>

const worker = async (search: Search, watch: Watch) => {
  while (watch.isOpen) {
    const begun = performance.now()
    watch.note(begun, await search(watch.nextTerm()))
  }
}

const land = (search: Search, searches: number) =>
  new Promise<Landing>((resolve) => {
    let open = searches
    let failures = 0
    let firstFailure: string | undefined
    const landed = () => {
      open -= 1
      if (open === 0) resolve(firstFailure === undefined ? { failures } : { failures, firstFailure })
    }
    const failed = (reason: unknown) => {
      failures += 1
      firstFailure ??= String(reason)
      landed()
    }
    const succeeded = (answer: unknown) => isPayload(answer) ? landed() : failed("not the answer to a search")
    for (let index = 0; index < searches; index++) search(term(index)).then(succeeded, failed)
  })

export const promised = (search: Search, close: () => Promise<void> = () => Promise.resolve()): Client => ({
  drive: async (watch, concurrency) => {
    await Promise.all(Array.from({ length: concurrency }, () => worker(search, watch)))
  },
  storm: (searches) => land(search, searches),
  close
})
