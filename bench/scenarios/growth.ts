/** Whether the cost of a search stays the same with many at once, and with many clients in one process. */
import { bare, type ClientName } from "../clients/names.js"
import { interleaved, median } from "../figures.js"
import { atMost, beside, type Goal } from "../goals.js"
import { type Measured, open, type Performer } from "../Stage.js"
import type { Table } from "../table.js"
import type { Scenario } from "./Scenario.js"

const name: ClientName = "ours-fibers"

/** What grows with the connections and the queue, and what with the fibers, with no library between. */
const yardsticks: ReadonlyArray<ClientName> = ["undici.request", bare[name] ?? name]

const levels = ["16", "256", "4096"] as const

const tenants = ["1", "10", "100"] as const

const tenantConcurrency = 64

const limit = 1.5

const medians = (measured: ReadonlyMap<string, ReadonlyArray<Measured>>) =>
  [...measured].map(([of, slices]) => ({
    of,
    cpu: median(slices.map(({ cpuPerSearch }) => cpuPerSearch)),
    perSecond: median(slices.map(({ perSecond }) => perSecond))
  }))

const tableOf = (title: string, column: string, figures: ReturnType<typeof medians>): Table => ({
  title,
  columns: [column, "CPU µs", "requests/s"],
  rows: figures.map(({ cpu, of, perSecond }) => [of, cpu.toFixed(1), perSecond.toFixed(0)])
})

const mostOfLeast = (figures: ReturnType<typeof medians>) => {
  const cpus = figures.map(({ cpu }) => cpu)
  return Math.max(...cpus) / Math.min(...cpus)
}

const goalOf = (what: string, figures: ReturnType<typeof medians>): Goal => atMost(7, what, limit, mostOfLeast(figures))

export const growth: Scenario = async (plan) => {
  if (!plan.isChosen(name)) return { tables: [], goals: [] }
  const stage = await open(plan)
  const rounds = plan.quick ? 1 : Math.min(plan.rounds, 3)
  const { millis } = plan
  const atEachLevel = async (performer: Performer) => {
    await performer.build()
    for (const level of levels) await performer.slice({ concurrency: Number(level), millis })
    return medians(
      await interleaved(levels, rounds, (level) => performer.slice({ concurrency: Number(level), millis }))
    )
  }
  plan.say("growth: searches at once")
  const byLevel = await atEachLevel(stage.perform(name))
  const ofYardsticks: Array<readonly [ClientName, ReturnType<typeof medians>]> = []
  for (const yardstick of plan.quick ? [] : yardsticks) {
    ofYardsticks.push([yardstick, await atEachLevel(stage.perform(yardstick))])
  }

  plan.say("growth: tenants")
  const byCount = new Map(tenants.map((count) => [count, stage.perform(name)]))
  for (const [count, performer] of byCount) {
    await performer.build(Number(count))
    await performer.slice({ concurrency: tenantConcurrency, millis })
  }
  const measured = await interleaved(tenants, rounds, async (count) => {
    const performer = byCount.get(count)
    if (performer === undefined) throw new Error(`nobody has ${count} tenants`)
    return performer.slice({ concurrency: tenantConcurrency, millis })
  })
  await stage.end()
  const byTenants = medians(measured)
  return {
    tables: [
      tableOf(`${name}, by the searches at once`, "concurrent", byLevel),
      ...ofYardsticks.map(([yardstick, figures]) =>
        tableOf(`${yardstick}, by the searches at once`, "concurrent", figures)
      ),
      tableOf(`${name}, ${tenantConcurrency} concurrent, by the clients in one process`, "clients", byTenants)
    ],
    goals: [
      beside(
        goalOf("CPU at 16, 256, 4,096 concurrent: most of least", byLevel),
        ofYardsticks.map(([, figures]) => mostOfLeast(figures)).at(-1)
      ),
      goalOf("CPU with 1, 10, 100 clients: most of least", byTenants)
    ]
  }
}
