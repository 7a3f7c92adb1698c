/** What a search costs that SearchCache answers from memory: 2 KB of JSON, parsed for its caller. */
import type { Body, CacheLoopOrders } from "../cacheLoop.js"
import { interleaved, median } from "../figures.js"
import { atMost, beside } from "../goals.js"
import { start } from "../orders.js"
import type { Scenario } from "./Scenario.js"

const parse: Body = "JSON.parse alone"

const hit: Body = "a hit of SearchCache"

const bodies: ReadonlyArray<Body> = [parse, hit, "a hit of SearchCache, with a query parameter"]

const rounds = { full: 15, quick: 5 }

const warmUps = 3

export const cache: Scenario = async ({ quick, say }) => {
  say("cache: SearchCache")
  const process = start<CacheLoopOrders>({ file: "cacheLoop.js", core: 1 })
  await interleaved(bodies, warmUps, (body) => process.tell("time", body))
  const times = await interleaved(bodies, quick ? rounds.quick : rounds.full, (body) => process.tell("time", body))
  await process.end()
  const microsOf = (body: Body) => median(times.get(body) ?? []) / 1000
  return {
    tables: [{
      title: "One search of 2 KB from memory, in a loop",
      columns: ["body", "µs"],
      rows: bodies.map((body) => [body, microsOf(body).toFixed(2)])
    }],
    goals: [beside(atMost(8, `${hit}, 2 KB`, 15, microsOf(hit), " µs"), microsOf(parse), " µs")]
  }
}
