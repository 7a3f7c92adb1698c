/** What a search holds while it waits for its answer, and what a million of them leave behind. */
import { bare, type ClientName } from "../clients/names.js"
import { atMost, beside } from "../goals.js"
import { open, type Stage } from "../Stage.js"
import type { Plan, Report, Scenario } from "./Scenario.js"

const flood = 10_000

const flooded: ReadonlyArray<ClientName> = [
  "undici.request",
  "hand-written",
  "azure",
  "undici.dispatch-fibers",
  "undici.dispatch-runPromise",
  "stock-undici-pool-fibers",
  "ours-fibers",
  "ours-runPromise"
]

const quickly = new Set<ClientName>(["undici.request", "undici.dispatch-fibers", "ours-fibers"])

const marching: ClientName = "ours-fibers"

const concurrency = 64

const flags = ["--expose-gc"]

const kilobyte = 1024

const megabyte = kilobyte * kilobyte

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** As many searches as there are connections have reached the server; the others wait behind them. */
const isFull = async ({ server }: Stage) => {
  let before = -1
  for (;;) {
    await sleep(200)
    const { held } = await server.tell("look")
    if (held > 0 && held === before) return
    before = held
  }
}

const inFlight = async (stage: Stage, name: ClientName) => {
  const performer = stage.perform(name, flags)
  await performer.build()
  await performer.storm(flood / 10)
  const before = await performer.heap()
  await stage.server.tell("hold")
  await performer.flood(flood)
  await isFull(stage)
  const during = await performer.heap()
  await stage.server.tell("release")
  const { failures, firstFailure } = await performer.landed()
  if (failures > 0) throw new Error(`${name}: ${failures} searches failed that were held back: ${firstFailure}`)
  await performer.end()
  return (during - before) / flood / kilobyte
}

const floods = async (stage: Stage, { isAsked, isChosen, quick, say }: Plan): Promise<Report> => {
  const figures = new Map<ClientName, number>()
  for (const name of flooded.filter((name) => isChosen(name) && (!quick || isAsked || quickly.has(name)))) {
    say(`memory: ${name}`)
    figures.set(name, await inFlight(stage, name))
  }
  return {
    tables: [{
      title: `Heap of a search in flight, ${flood} at once behind ${concurrency} connections`,
      columns: ["client", "KB"],
      rows: [...figures].map(([name, kilobytes]) => [name, kilobytes.toFixed(2)])
    }],
    goals: [...figures].filter(([name]) => name in bare).map(([name, kilobytes]) =>
      beside(
        atMost(5, `${name}, heap of a search in flight`, 5, kilobytes, " KB"),
        figures.get(bare[name] ?? name),
        " KB"
      )
    )
  }
}

const march = async (stage: Stage, { isChosen, quick, say }: Plan): Promise<Report> => {
  if (!isChosen(marching)) return { tables: [], goals: [] }
  const total = quick ? 50_000 : 1_000_000
  say(`memory: ${total} searches`)
  const performer = stage.perform(marching, flags)
  await performer.build()
  await performer.slice({ concurrency, searches: flood })
  const before = await performer.heap()
  await performer.slice({ concurrency, searches: total - flood })
  const after = await performer.heap()
  await performer.end()
  const growth = (after - before) / megabyte
  return {
    tables: [{
      title: `Heap of ${marching}`,
      columns: ["after", "MB"],
      rows: [[String(flood), (before / megabyte).toFixed(2)], [String(total), (after / megabyte).toFixed(2)]]
    }],
    goals: [atMost(5, `${marching}, heap after ${total} searches over that after ${flood}`, 5, growth, " MB")]
  }
}

export const memory: Scenario = async (plan) => {
  const stage = await open(plan)
  const reports = [await floods(stage, plan), await march(stage, plan)]
  await stage.end()
  return { tables: reports.flatMap(({ tables }) => tables), goals: reports.flatMap(({ goals }) => goals) }
}
