/** Two clients in turn, a short slice each, in several processes: for the goals that lie within a tenth of another client. */
import type { ClientName } from "../clients/names.js"
import { interleaved, median, ratio } from "../figures.js"
import { atMost } from "../goals.js"
import { type Measured, open } from "../Stage.js"
import type { Plan, Report, Scenario } from "./Scenario.js"

interface Pair {
  readonly goal: number
  readonly own: ClientName
  readonly other: ClientName
  /** By how many searches are kept going: at most so much of the other's CPU. */
  readonly limits: Readonly<Record<number, number>>
}

const pairs: ReadonlyArray<Pair> = [
  // What the library adds to a client of the platform's, of which it is told nothing but the layer.
  { goal: 3, own: "ours-over-undici", other: "stock-undici", limits: { 64: 1.1 } },
  { goal: 3, own: "ours-over-fetch", other: "stock-fetch", limits: { 64: 1.1 } },
  { goal: 3, own: "ours-over-node:http", other: "stock-node:http", limits: { 64: 1.1 } },
  // Promises beside `Effect.runPromise` of the same search.
  { goal: 26, own: "ours-client.search", other: "ours-runPromise", limits: { 1: 1.05, 64: 1.05, 256: 1.05 } },
  // On Effect 4 beside the same undici: its release 8 costs a client that is written by hand more than 7 does.
  { goal: 28, own: "ours-runPromise-effect-4", other: "hand-written-undici-8", limits: { 1: 1, 64: 1.1 } },
  { goal: 28, own: "ours-fibers-effect-4", other: "hand-written-undici-8", limits: { 64: 1.1 } }
]

/** One process differs from the next of the same client by as much as the tenth that is asked for. */
const processes = 6

/** Slices of a quarter of a round: what the machine does meanwhile meets both alike. */
const parts = 4

type Slices = ReadonlyMap<ClientName, ReadonlyArray<Measured>>

const slicesOf = async (
  { limits, other, own }: Pair,
  { flags, levels, millis, profiles, rounds }: Plan
): Promise<ReadonlyMap<number, Slices>> => {
  const stage = await open({ flags, profiles })
  const performers = [other, own].map((name) => stage.perform(name))
  for (const { build } of performers) await build()
  const measured = new Map<number, Slices>()
  for (const concurrency of Object.keys(limits).map(Number)) {
    if (levels?.includes(concurrency) === false) continue
    for (const { slice } of performers) await slice({ concurrency, millis })
    const slices = await interleaved(
      performers,
      rounds * parts,
      ({ slice }) => slice({ concurrency, millis: millis / parts })
    )
    measured.set(concurrency, new Map([...slices].map(([{ name }, of]) => [name, of])))
  }
  await stage.end()
  return measured
}

const reportOf = (
  { goal, own, other }: Pair,
  concurrency: number,
  limit: number,
  all: ReadonlyArray<Slices>
): Report => {
  const of = (name: ClientName, figure: keyof Measured) =>
    all.flatMap((slices) => slices.get(name) ?? []).map((slice) => slice[figure])
  const toOther = ratio(of(own, "cpuPerSearch"), of(other, "cpuPerSearch"))
  return {
    tables: [{
      title: `${own} beside ${other}, ${concurrency} concurrent`,
      columns: ["client", "CPU µs", "CPU", "requests/s", "p50 ms", "p99 ms"],
      rows: [other, own].map((name) => [
        name,
        median(of(name, "cpuPerSearch")).toFixed(1),
        (name === other ? 1 : toOther).toFixed(2),
        median(of(name, "perSecond")).toFixed(0),
        median(of(name, "p50")).toFixed(2),
        median(of(name, "p99")).toFixed(2)
      ])
    }],
    goals: [atMost(goal, `${own} at ${concurrency}, CPU of ${other}`, limit, toOther)]
  }
}

const compared = async (pair: Pair, plan: Plan): Promise<ReadonlyArray<Report>> => {
  plan.say(`pairs: ${pair.own} beside ${pair.other}`)
  const all: Array<ReadonlyMap<number, Slices>> = []
  while (all.length < (plan.quick ? 1 : processes)) all.push(await slicesOf(pair, plan))
  return Object.entries(pair.limits).flatMap(([level, limit]) => {
    const measured = all.flatMap((levels) => levels.get(Number(level)) ?? [])
    return measured.length === 0 ? [] : [reportOf(pair, Number(level), limit, measured)]
  })
}

export const pairedWithOthers: Scenario = async (plan) => {
  const chosen = pairs.filter(({ other, own }) => plan.isChosen(own) && plan.isChosen(other))
  const reports: Array<Report> = []
  for (const pair of plan.quick && !plan.isAsked ? chosen.slice(0, 1) : chosen) {
    reports.push(...await compared(pair, plan))
  }
  return { tables: reports.flatMap(({ tables }) => tables), goals: reports.flatMap(({ goals }) => goals) }
}
