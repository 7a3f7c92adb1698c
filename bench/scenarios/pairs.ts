/** What the library adds to a client of the platform's, of which it is told nothing but the layer. */
import type { ClientName } from "../clients/names.js"
import { interleaved, median, ratio } from "../figures.js"
import { atMost } from "../goals.js"
import { type Measured, open } from "../Stage.js"
import type { Plan, Report, Scenario } from "./Scenario.js"

const pairs: ReadonlyArray<readonly [own: ClientName, stock: ClientName]> = [
  ["ours-over-undici", "stock-undici"],
  ["ours-over-fetch", "stock-fetch"],
  ["ours-over-node:http", "stock-node:http"]
]

const concurrency = 64

/** One process differs from the next by as much as the tenth that is asked for: so several, one pair after another. */
const processes = 3

const slicesOf = async (names: ReadonlyArray<ClientName>, { flags, millis, profiles, rounds }: Plan) => {
  const stage = await open({ flags, profiles })
  const performers = names.map((name) => stage.perform(name))
  for (const { build, slice } of performers) {
    await build()
    await slice({ concurrency, millis })
  }
  const measured = await interleaved(performers, rounds, ({ slice }) => slice({ concurrency, millis }))
  await stage.end()
  return new Map([...measured].map(([{ name }, slices]) => [name, slices]))
}

const compared = async ([own, stock]: readonly [ClientName, ClientName], plan: Plan): Promise<Report> => {
  plan.say(`pairs: ${own}`)
  const all: Array<ReadonlyMap<ClientName, ReadonlyArray<Measured>>> = []
  while (all.length < (plan.quick ? 1 : processes)) all.push(await slicesOf([stock, own], plan))
  const of = (name: ClientName, figure: keyof Measured) =>
    all.flatMap((slices) => slices.get(name) ?? []).map((slice) => slice[figure])
  const toStock = ratio(of(own, "cpuPerSearch"), of(stock, "cpuPerSearch"))
  return {
    tables: [{
      title: `${own} beside ${stock}, ${concurrency} concurrent`,
      columns: ["client", "CPU µs", "CPU", "requests/s", "p50 ms", "p99 ms"],
      rows: [stock, own].map((name) => [
        name,
        median(of(name, "cpuPerSearch")).toFixed(1),
        (name === stock ? 1 : toStock).toFixed(2),
        median(of(name, "perSecond")).toFixed(0),
        median(of(name, "p50")).toFixed(2),
        median(of(name, "p99")).toFixed(2)
      ])
    }],
    goals: [atMost(3, `${own}, CPU of ${stock}`, 1.1, toStock)]
  }
}

export const pairedWithStock: Scenario = async (plan) => {
  const chosen = pairs.filter((pair) => pair.every(plan.isChosen))
  const reports: Array<Report> = []
  for (const pair of plan.quick && !plan.isAsked ? chosen.slice(0, 1) : chosen) reports.push(await compared(pair, plan))
  return { tables: reports.flatMap(({ tables }) => tables), goals: reports.flatMap(({ goals }) => goals) }
}
