/** Random histories of a fleet. RUNS=10 plays a hundred; a failure names its seed, and SEED= plays that one. */
import { describe, expect, it } from "vitest"
import { runs } from "../support/doubles/runs.js"
import { type FleetPlan, play } from "./fleet/history.js"
import * as PlainCrypto from "./fleet/PlainCrypto.js"

const minute = 60_000

const hour = 60 * minute

const seeds = process.env["SEED"] === undefined
  ? Array.from({ length: runs(10) }, (_, index) => String(index + 1))
  : [process.env["SEED"]]

const plan: FleetPlan = { seed: "", size: 12, duration: hour, life: 30 * minute, pause: 30_000, trouble: "None" }

describe.each(seeds)("fleet: history %s", (seed) => {
  it.each<readonly [string, Partial<FleetPlan>]>([
    ["deploys, restarts and revocations", {}],
    ["cache outages", { trouble: "Cache" }],
    ["outages of cache and token route", { trouble: "All" }],
    ["a day", { trouble: "All", size: 3, duration: 24 * hour, life: 8 * hour, pause: 10 * minute }]
  ])("the rules of docs/sharing.md hold through %s", (_, changes) =>
    PlainCrypto.using(async () => {
      expect(await play({ ...plan, ...changes, seed })).toEqual([])
    }))
})
