/** Random histories of a fleet. RUNS=10 plays a hundred; a failure names its seed, and SEED= plays that one. */
import { beforeEach, describe, expect, it } from "vitest"
import * as Cache from "../support/doubles/CacheDouble.js"
import * as PlainCrypto from "../support/doubles/PlainCrypto.js"
import { runs } from "../support/doubles/runs.js"
import { exchangeMillis, longestSearch, SimulatedFleet } from "./SimulatedFleet.js"

const second = 1_000

const minute = 60 * second

const hour = 60 * minute

interface FleetPlan {
  readonly seed: string
  readonly size: number
  /** In milliseconds. */
  readonly duration: number
  readonly life: number
  /** Between two searches of a replica, on average, in milliseconds. */
  readonly pause: number
  /** "None": there are deployments, restarts and revocations. "Cache": the cache has outages, too. "All": the token route as well. */
  readonly trouble: "None" | "Cache" | "All"
}

interface IncidentCounts {
  revocations: number
  /** Replicas that were stopped during an exchange, which may have been theirs. */
  stops: number
  cache: number
  /** When the token route failed, and when it worked again. */
  readonly route: Array<{ readonly from: number; readonly to: number }>
}

type Incident = (fleet: SimulatedFleet, counts: IncidentCounts, random: (from: number, to: number) => number) => void

const revoke: Incident = ({ now, simulator }, counts) => {
  counts.revocations += 1
  now(simulator.revoke)
}

const restartOne = (fleet: SimulatedFleet, counts: IncidentCounts, id: number, pause: number) => {
  const lastExchange = fleet.exchangeStarts.at(-1) ?? Number.NEGATIVE_INFINITY
  if (fleet.time.now - lastExchange <= exchangeMillis) counts.stops += 1
  fleet.stop(id)
  fleet.time.after(pause, () => fleet.start(id))
}

const restart: Incident = (fleet, counts, random) => {
  const ids = [...fleet.replicas.keys()]
  const id = ids[Math.floor(random(0, ids.length))]
  if (id !== undefined) restartOne(fleet, counts, id, random(1, 10) * second)
}

const deploy: Incident = (fleet, counts, random) => {
  const ids = [...fleet.replicas.keys()]
  const step = random(1, 3) * minute / ids.length
  ids.forEach((id, index) => fleet.time.after(index * step, () => restartOne(fleet, counts, id, 2 * second)))
}

const healthy: ReadonlyArray<Incident> = [revoke, restart, restart, deploy]

/** The cache fails in some way for some time. */
const cacheTrouble: Incident = (fleet, counts, random) => {
  counts.cache += 1
  const kind = random(0, 3)
  if (kind < 1) fleet.setCache(Cache.fails)
  else if (kind < 2) fleet.setCache(Cache.takes(random(100, 4_000)))
  else fleet.setCache(Cache.fails, [...fleet.behaviors.keys()].filter(() => random(0, 3) < 1))
  fleet.time.after(random(2, 120) * second, () => fleet.setCache())
}

const routeTrouble: Incident = ({ now, simulator, time }, counts, random) => {
  const millis = random(5, 180) * second
  counts.route.push({ from: time.now, to: time.now + millis })
  now(simulator.provoke("token", random(0, 2) < 1 ? "unavailable" : "hang"))
  time.after(millis, () => now(simulator.recover))
}

const incidentsOf: Record<FleetPlan["trouble"], ReadonlyArray<Incident>> = {
  None: healthy,
  Cache: [...healthy, cacheTrouble, cacheTrouble],
  All: [...healthy, cacheTrouble, routeTrouble]
}

/**
 * The exchanges that the rules of docs/sharing.md allow: one for each token that ends, each revocation, and each replica that stops
 * during an exchange; while the cache fails, one for each replica and token; while the token route fails, as many as without sharing.
 */
const allowedExchanges = (
  { duration, life, size }: FleetPlan,
  { cache, revocations, route, stops }: IncidentCounts
) => {
  const shared = 1 + Math.ceil(duration / (0.9 * life)) + revocations + stops
  const alone = cache * size * 2
  const routeMillis = route.reduce((sum, { from, to }) => sum + to - from, 0)
  return shared + alone + size * (8 * route.length + routeMillis / (30 * second))
}

/** Searches may fail while the token route fails, and until the longest backoff and a cool-down have passed. */
const mayFail = (startedAt: number, { route }: IncidentCounts) =>
  route.some(({ from, to }) => startedAt >= from - longestSearch && startedAt <= to + 2 * minute)

/** Plays a history to its end, and returns what was violated. */
const play = async (plan: FleetPlan) => {
  const fleet = new SimulatedFleet({ seed: plan.seed, life: plan.life, skew: 5 * second })
  const random = (from: number, to: number) => from + (to - from) * fleet.random()
  const counts: IncidentCounts = { revocations: 0, stops: 0, cache: 0, route: [] }
  const end = plan.duration - 5 * minute
  const incidents = incidentsOf[plan.trouble]

  const searchLater = (id: number) =>
    fleet.time.after(random(0, 2) * plan.pause, () => {
      fleet.search(id)
      if (fleet.time.now < end) searchLater(id)
    })

  const happenLater = () =>
    fleet.time.after(random(1, 10) * minute, () => {
      if (fleet.time.now > end - 5 * minute) return
      incidents[Math.floor(random(0, incidents.length))]?.(fleet, counts, random)
      happenLater()
    })

  fleet.startAll(plan.size)
  for (const id of fleet.behaviors.keys()) searchLater(id)
  happenLater()
  await fleet.pass(plan.duration)
  await fleet.finish()

  const { exchanges, failures, violations } = fleet
  const allowed = allowedExchanges(plan, counts)
  if (exchanges > allowed) violations.push(`${exchanges} exchanges, ${allowed} allowed`)
  for (const { end, startedAt } of failures) {
    if (!mayFail(startedAt, counts)) violations.push(`a search at ${startedAt} failed: ${end}`)
  }
  return violations.slice(0, 5).map((violation) => `SEED=${plan.seed} ${violation}`)
}

const seeds = process.env["SEED"] === undefined
  ? Array.from({ length: runs(10) }, (_, index) => String(index + 1))
  : [process.env["SEED"]]

const plan: FleetPlan = { seed: "", size: 12, duration: hour, life: 30 * minute, pause: 30_000, trouble: "None" }

beforeEach(PlainCrypto.install)

describe.each(seeds)("fleet: history %s", (seed) => {
  it.each<readonly [string, Partial<FleetPlan>]>([
    ["deploys, restarts and revocations", {}],
    ["cache outages", { trouble: "Cache" }],
    ["outages of cache and token route", { trouble: "All" }],
    ["a day", { trouble: "All", size: 3, duration: 24 * hour, life: 8 * hour, pause: 10 * minute }]
  ])("the rules of docs/sharing.md hold through %s", async (_, changes) => {
    expect(await play({ ...plan, ...changes, seed })).toEqual([])
  })
})
