/** What a search costs each client, beside what it costs undici alone. */
import { bare, type ClientName, clientNames, peers, reference } from "../clients/names.js"
import { interleaved, median, ratio } from "../figures.js"
import { atLeast, atMost, beside, type Goal } from "../goals.js"
import { type Measured, open, type Performer } from "../Stage.js"
import type { Table } from "../table.js"
import type { Plan, Scenario } from "./Scenario.js"

const main = 64

const everywhere = [1, 16, main, 256]

const atMainOnly = new Set<ClientName>([
  "undici.dispatch-fibers",
  "undici.dispatch-runPromise",
  "ours-runtime.runPromise"
])

const elsewhere = new Set<ClientName>([
  "stock-undici-pool-fibers",
  "stock-fetch",
  "stock-node:http",
  "ours-over-undici",
  "ours-over-fetch",
  "ours-over-node:http"
])

const quickly = new Set<ClientName>([
  reference,
  "undici.dispatch",
  "hand-written",
  "hand-written-undici-8",
  "azure",
  "stock-undici",
  "ours-fibers",
  "ours-runPromise",
  "ours-fibers-effect-4",
  "ours-runPromise-effect-4",
  "ours-client.search"
])

type Level = ReadonlyMap<ClientName, ReadonlyArray<Measured>>

const saturated = 0.95

const measuredAt = (
  performers: ReadonlyArray<Performer>,
  concurrency: number,
  { levels, millis, rounds, say }: Plan
): Promise<Level> => {
  const byName = new Map(performers.map((performer) => [performer.name, performer]))
  const names = performers.map(({ name }) => name).filter((name) =>
    concurrency === main || levels !== undefined || !atMainOnly.has(name)
  )
  const warmed = new Set<ClientName>()
  return interleaved(names, rounds, async (name) => {
    const performer = byName.get(name)
    if (performer === undefined) throw new Error(`${name} is not there`)
    if (!warmed.has(name)) {
      say(`throughput: ${name} at ${concurrency}`)
      await performer.slice({ concurrency, millis })
      warmed.add(name)
    }
    return performer.slice({ concurrency, millis })
  })
}

const of = (slices: ReadonlyArray<Measured> | undefined, figure: keyof Measured) =>
  (slices ?? []).map((slice) => slice[figure])

const tableOf = (concurrency: number, level: Level): Table => {
  const references = level.get(reference)
  const busy = [...level].filter(([, slices]) => slices.some(({ serverShare }) => serverShare > saturated))
  return {
    title: `${concurrency} concurrent`,
    columns: ["client", "CPU µs", "CPU", "requests/s", "ratio", "p50 ms", "p99 ms", "p99", "connections", "server"],
    rows: [...level].map(([name, slices]) => {
      const middle = (figure: keyof Measured) => median(of(slices, figure))
      const toReference = (figure: keyof Measured) => ratio(of(slices, figure), of(references, figure)).toFixed(2)
      return [
        name,
        middle("cpuPerSearch").toFixed(1),
        toReference("cpuPerSearch"),
        middle("perSecond").toFixed(0),
        toReference("perSecond"),
        middle("p50").toFixed(2),
        middle("p99").toFixed(2),
        toReference("p99"),
        String(Math.max(...of(slices, "connections"))),
        `${(100 * Math.max(...of(slices, "serverShare"))).toFixed(0)} %`
      ]
    }),
    notes: busy.length === 0
      ? []
      : [
        `the server had no core to spare for ${busy.map(([name]) => name).join(", ")}: ` +
        "their requests/s and latencies are its limit, their CPU is their own"
      ]
  }
}

const costGoals = (level: Level): ReadonlyArray<Goal> => {
  const references = level.get(reference)
  const toReference = (name: ClientName, figure: keyof Measured) =>
    ratio(of(level.get(name), figure), of(references, figure))
  const goalOf = (name: ClientName, figure: keyof Measured, goal: (figure: number) => Goal) =>
    beside(goal(toReference(name, figure)), toReference(bare[name] ?? name, figure))
  const ofClient = (name: ClientName, cpu: number, perSecond: number): ReadonlyArray<Goal> =>
    level.has(name)
      ? [
        goalOf(name, "cpuPerSearch", (figure) => atMost(2, `${name}, CPU of the reference`, cpu, figure)),
        goalOf(name, "perSecond", (figure) => atLeast(2, `${name}, requests/s of the reference`, perSecond, figure)),
        goalOf(name, "p99", (figure) => atMost(2, `${name}, p99 of the reference`, 1.2, figure))
      ]
      : []
  return [
    ...ofClient("ours-runPromise", 1.6, 0.7),
    ...ofClient("ours-fibers", 1.3, 0.8)
  ]
}

const leads: ReadonlyArray<readonly [keyof Measured, string, "less" | "more"]> = [
  ["cpuPerSearch", "CPU", "less"],
  ["perSecond", "requests/s", "more"],
  ["p50", "p50", "less"]
]

const leadGoal = (concurrency: number, level: Level): ReadonlyArray<Goal> => {
  const own = (["ours-runPromise", "ours-fibers"] as const).filter((name) => level.has(name))
  const others = peers.filter((name) => level.has(name))
  if (own.length === 0 || others.length === 0) return []
  const told = leads.map(([figure, what, better]) => {
    const closest = own.flatMap((name) =>
      others.map((other) => {
        const part = ratio(of(level.get(name), figure), of(level.get(other), figure))
        return { other, part: better === "less" ? part : 1 / part, shown: part }
      })
    ).reduce((worst, next) => next.part > worst.part ? next : worst)
    return { text: `${what} ${closest.shown.toFixed(2)} of ${closest.other}`, isAhead: closest.part < 1 }
  })
  return [{
    number: 2,
    what: `ahead of every peer at ${concurrency}`,
    target: "CPU and p50 below 1, requests/s above",
    figure: told.map(({ text }) => text).join("; "),
    isMet: told.every(({ isAhead }) => isAhead)
  }]
}

export const throughput: Scenario = async (plan) => {
  const stage = await open(plan)
  const names = clientNames.filter((name) =>
    !elsewhere.has(name) && (name === reference || plan.isChosen(name)) &&
    (!plan.quick || plan.isAsked || quickly.has(name))
  )
  const performers = names.map((name) => stage.perform(name))
  for (const { build } of performers) await build()
  const levels: Array<readonly [number, Level]> = []
  for (const concurrency of plan.levels ?? (plan.quick ? [main] : everywhere)) {
    levels.push([concurrency, await measuredAt(performers, concurrency, plan)])
  }
  await stage.end()
  return {
    tables: levels.map(([concurrency, level]) => tableOf(concurrency, level)),
    goals: levels.flatMap(([concurrency, level]) => [
      ...(concurrency === main ? costGoals(level) : []),
      ...leadGoal(concurrency, level)
    ])
  }
}
