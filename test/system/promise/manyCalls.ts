/** Many calls with one signal that lives as long as the process: what is left of them. */
import { getEventListeners } from "node:events"
import { Effect } from "effect"
import { fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

const { signal } = new AbortController()

const later = Effect.as(Effect.yieldNow(), { results: [] })

const advisor = fromLayer(NutritionAdvisorTest.layer({ search: () => later }))

/** The heap after so many calls, a hundred at a time, each 50,000 of them with a collection. */
const heapAfter = async (calls: number) => {
  for (let made = 100; made <= calls; made += 100) {
    await Promise.all(Array.from({ length: 100 }, () => advisor.search("oats", { signal })))
    if (made % 50_000 === 0) globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** After so many V8 has warmed up. */
const warmed = await heapAfter(150_000)
const heap = await heapAfter(100_000)
console.log(JSON.stringify({ grown: heap - warmed, listeners: getEventListeners(signal, "abort").length }))
await advisor.close()
