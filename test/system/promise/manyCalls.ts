/** Many calls with one signal that lives as long as the process: what is left of them. */
import { getEventListeners } from "node:events"
import { Effect } from "effect"
import { fromLayer } from "effect-nutrition-advisor/promise"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

const { signal } = new AbortController()

const later = Effect.as(Effect.yieldNow(), { results: [] })

const advisor = fromLayer(NutritionAdvisorTest.layer({ search: () => later }))

const search = async (calls: number) => {
  for (let left = calls; left > 0; left -= 100) {
    await Promise.all(Array.from({ length: 100 }, () => advisor.search("oats", { signal })))
  }
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const warmed = await search(20_000)
const heap = await search(100_000)
console.log(JSON.stringify({ grown: heap - warmed, listeners: getEventListeners(signal, "abort").length }))
await advisor.close()
