/** The benchmark: each scenario in turn, then one table of the goals. `--draw` measures nothing, and draws the picture again. */
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { type ClientName, clientNames, onEffect4 } from "./clients/names.js"
import { goalsTable } from "./goals.js"
import { machine, versions } from "./machine.js"
import { endAll, pinning } from "./orders.js"
import { draw, write } from "./results.js"
import type { Plan, Report, Scenario } from "./scenarios/Scenario.js"
import { asText } from "./table.js"

const scenarios: Readonly<Record<string, () => Promise<Scenario>>> = {
  throughput: async () => (await import("./scenarios/throughput.js")).throughput,
  pairs: async () => (await import("./scenarios/pairs.js")).pairedWithOthers,
  growth: async () => (await import("./scenarios/growth.js")).growth,
  storms: async () => (await import("./scenarios/storms.js")).storms,
  memory: async () => (await import("./scenarios/memory.js")).memory,
  token: async () => (await import("./scenarios/token.js")).token,
  cache: async () => (await import("./scenarios/cache.js")).cache,
  imports: async () => (await import("./scenarios/imports.js")).imports,
  bundle: async () => (await import("./scenarios/bundle.js")).bundle
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    clients: { type: "string" },
    levels: { type: "string" },
    rounds: { type: "string" },
    millis: { type: "string" },
    profile: { type: "string" },
    flags: { type: "string" },
    write: { type: "boolean", default: false },
    draw: { type: "boolean", default: false },
    "effect-4": { type: "boolean", default: false }
  }
})

const listed = (text: string | undefined) => text?.split(",").map((part) => part.trim())

const known = <A extends string>(what: string, all: ReadonlyArray<A>, asked: ReadonlyArray<string> | undefined) => {
  if (asked === undefined) return all
  for (const name of asked) {
    if (!all.some((one) => one.startsWith(name))) throw new Error(`no ${what} is called ${name}: ${all.join(", ")}`)
  }
  return all.filter((one) => asked.some((name) => one.startsWith(name)))
}

const clients = new Set<ClientName>(known("client", clientNames, listed(values.clients)))

const plan: Plan = {
  quick: values.quick,
  rounds: Number(values.rounds ?? (values.quick ? 2 : 5)),
  millis: Number(values.millis ?? 1000),
  levels: listed(values.levels)?.map(Number),
  isChosen: (name) => clients.has(name) && (values["effect-4"] || !onEffect4.has(name)),
  isAsked: values.clients !== undefined,
  flags: values.flags?.split(" ") ?? [],
  profiles: values.profile === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? "", values.profile),
  say: (progress) => process.stderr.write(`${progress}\n`)
}

const chosen = known("scenario", Object.keys(scenarios), listed(values.only))

const began = new Date()

const { "effect-4": _, write: isWritten, ...narrowed } = values

if (isWritten && Object.values(narrowed).some((value) => value !== undefined && value !== false)) {
  throw new Error("RESULTS.md holds full runs only")
}

if (values.draw) {
  draw()
  process.exit()
}

try {
  console.log(
    `${machine()}, ${pinning}; ${plan.rounds} rounds of ${plan.millis} ms\n${
      versions({ onEffect4: values["effect-4"] })
    }\n`
  )
  const reports: Array<Report> = []
  for (const name of chosen) {
    const scenario = await scenarios[name]?.()
    if (scenario === undefined) continue
    const report = await scenario(plan)
    for (const table of report.tables) console.log(asText(table))
    reports.push(report)
  }
  const goals = goalsTable(reports.flatMap(({ goals }) => goals))
  console.log(asText(goals))
  const minutes = (Date.now() - began.getTime()) / 60_000
  console.log(`${minutes.toFixed(1)} minutes`)
  if (isWritten) {
    write(
      [
        `\`npm run bench\` on ${
          began.toISOString().slice(0, 10)
        }: ${machine()}, ${pinning}; ${plan.rounds} rounds of ` +
        `${plan.millis} ms, ${minutes.toFixed(1)} minutes in all.`,
        `${versions({ onEffect4: values["effect-4"] })}.`
      ].join("\n"),
      [...reports.flatMap(({ tables }) => tables), goals]
    )
  }
} catch (error) {
  endAll()
  console.error(error)
  process.exitCode = 1
}
