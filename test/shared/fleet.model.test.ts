/** Random histories of a fleet. RUNS=10 plays a hundred; a failure names its seed, and SEED= plays that one. */
import { describe, expect, it } from "vitest"
import * as PlainCrypto from "../support/doubles/PlainCrypto.js"
import { runs } from "../support/doubles/runs.js"
import { SimulatedFleet } from "./fleet/SimulatedFleet.js"

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

/** How many incidents of each kind a history has. */
interface IncidentCounts {
  revocations: number
  cache: number
  route: number
  /** How long the token route was not up, in milliseconds. */
  routeMillis: number
}

type Incident = (fleet: SimulatedFleet, counts: IncidentCounts, random: (from: number, to: number) => number) => void

const revoke: Incident = ({ service }, counts) => {
  counts.revocations += 1
  service.revoke()
}

const restart: Incident = (fleet, _, random) => {
  const ids = [...fleet.replicas.keys()]
  const id = ids[Math.floor(random(0, ids.length))]
  if (id !== undefined) fleet.restart(id, random(1, 10) * second)
}

const deploy: Incident = (fleet, _, random) => {
  const ids = [...fleet.replicas.keys()]
  const step = random(1, 3) * minute / ids.length
  ids.forEach((id, index) => fleet.time.after(index * step, () => fleet.restart(id, 2 * second)))
}

const healthy: ReadonlyArray<Incident> = [revoke, restart, restart, deploy]

/** The cache fails in some way for some time. */
const cacheTrouble: Incident = ({ cache, replicas, time }, counts, random) => {
  counts.cache += 1
  const kind = random(0, 3)
  if (kind < 1) cache.isDown = true
  else if (kind < 2) cache.latency = random(100, 4_000)
  else for (const id of replicas.keys()) if (random(0, 3) < 1) cache.unreachableFor.add(id)
  time.after(random(2, 120) * second, () => {
    cache.isDown = false
    cache.latency = 1
    cache.unreachableFor.clear()
  })
}

const routeTrouble: Incident = ({ service, time }, counts, random) => {
  const millis = random(5, 180) * second
  counts.route += 1
  counts.routeMillis += millis
  service.setRoute(random(0, 2) < 1 ? "down" : "hangs")
  time.after(millis, () => service.setRoute("up"))
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
  { stopsDuringExchanges }: SimulatedFleet,
  counts: IncidentCounts
) => {
  const shared = 1 + Math.ceil(duration / (0.9 * life)) + counts.revocations + stopsDuringExchanges
  const alone = counts.cache * size * 2
  const whileRouteFails = size * (8 * counts.route + counts.routeMillis / (30 * second))
  return shared + alone + whileRouteFails
}

/** Plays a history to its end, and returns what was violated. */
const play = async (plan: FleetPlan) => {
  const fleet = new SimulatedFleet({ seed: plan.seed, life: plan.life, skew: 5 * second })
  const random = (from: number, to: number) => from + (to - from) * fleet.random()
  const counts: IncidentCounts = { revocations: 0, cache: 0, route: 0, routeMillis: 0 }
  const end = plan.duration - 5 * minute
  const incidents = incidentsOf[plan.trouble]

  const searchLater = (id: number) =>
    fleet.time.after(random(0, 2) * plan.pause, () => {
      const replica = fleet.replicas.get(id)
      if (replica !== undefined) fleet.search(replica)
      if (fleet.time.now < end) searchLater(id)
    })

  const happenLater = () =>
    fleet.time.after(random(1, 10) * minute, () => {
      if (fleet.time.now > end - 5 * minute) return
      incidents[Math.floor(random(0, incidents.length))]?.(fleet, counts, random)
      happenLater()
    })

  await fleet.startAll(plan.size)
  for (const id of fleet.replicas.keys()) searchLater(id)
  happenLater()
  await fleet.pass(plan.duration)
  await fleet.finish()

  const { failed, service, violations } = fleet
  const allowed = allowedExchanges(plan, fleet, counts)
  if (service.exchanges.length > allowed) violations.push(`${service.exchanges.length} exchanges, ${allowed} allowed`)
  if (counts.route === 0 && Object.keys(failed).length > 0) violations.push(`failed: ${JSON.stringify(failed)}`)
  return violations.slice(0, 5).map((violation) => `SEED=${plan.seed} ${violation}`)
}

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
