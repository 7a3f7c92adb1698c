/** Ten thousand searches at once that all lack a token, or all carry one that was revoked. */
import { bare, type ClientName } from "../clients/names.js"
import { interleaved, median, ratio } from "../figures.js"
import { atMost, beside, type Goal } from "../goals.js"
import { open, type Performer, type Stage, type Storm } from "../Stage.js"
import type { Plan, Scenario } from "./Scenario.js"

const searches = 10_000

const connectionsAtMost = 64

const yardstick: ClientName = "hand-written"

const own: ReadonlyArray<ClientName> = ["ours-fibers", "ours-runPromise"]

/** Their exchanges and failures are their own; ours have to be one and none. */
const others: ReadonlyArray<ClientName> = ["azure", "google-auth", "axios-auth-refresh"]

const whens = ["cold", "revoked"] as const

type When = typeof whens[number]

const limits: ReadonlySet<ClientName> = new Set(Object.values(bare))

/** What knows its token from the beginning has no answer to a revocation. */
type Storms = Readonly<Partial<Record<When, Storm>>>

const both = async (stage: Stage, performer: Performer): Promise<Storms> => {
  await performer.buildCold()
  const cold = await performer.storm(searches)
  if (limits.has(performer.name)) return { cold }
  await stage.server.tell("revoke")
  return { cold, revoked: await performer.storm(searches) }
}

/** The compared ones in turn, after a first storm that is not counted; the others once. */
const raise = async (stage: Stage, { isAsked, isChosen, quick, rounds, say }: Plan) => {
  const isShort = quick && !isAsked
  const compared = new Map(
    [yardstick, ...(isShort ? own.slice(0, 1) : [...own, ...limits]).filter(isChosen)].map((name) =>
      [name, stage.perform(name)] as const
    )
  )
  for (const [name, performer] of compared) {
    say(`storms: ${name}`)
    await both(stage, performer)
  }
  const measured = new Map(
    await interleaved([...compared.values()], quick ? 1 : Math.min(rounds, 3), (performer) => both(stage, performer))
      .then((storms) => [...storms].map(([{ name }, all]) => [name, all] as const))
  )
  for (const name of isShort ? [] : others.filter(isChosen)) {
    say(`storms: ${name}`)
    measured.set(name, [await both(stage, stage.perform(name))])
  }
  return measured
}

const range = (values: ReadonlyArray<number>) => {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? String(least) : `${least} to ${most}`
}

export const storms: Scenario = async (plan) => {
  const stage = await open(plan)
  const measured = await raise(stage, plan)
  await stage.end()

  const of = (name: ClientName, when: When) => (measured.get(name) ?? []).flatMap((storms) => storms[when] ?? [])
  const millis = (name: ClientName, when: When) => of(name, when).map(({ millis }) => millis)
  const toYardstick = (name: ClientName, when: When) => ratio(millis(name, when), millis(yardstick, when))

  const goalOf = (name: ClientName, when: When): ReadonlyArray<Goal> => {
    const all = of(name, when)
    const isOne = all.every(({ exchanges, failures }) => exchanges === 1 && failures === 0)
    const firstFailure = all.find((storm) => storm.firstFailure !== undefined)?.firstFailure
    const exchanges = range(all.map((storm) => storm.exchanges))
    const failures = range(all.map((storm) => storm.failures))
    return [
      {
        number: 5,
        what: `${name}, ${searches} searches, ${when}`,
        target: "1 exchange, no failure",
        figure: `${exchanges}, ${failures}${firstFailure === undefined ? "" : ` (${firstFailure})`}`,
        isMet: isOne
      },
      beside(
        atMost(5, `${name}, ${when}, wall time of ${yardstick}`, 1.5, toYardstick(name, when)),
        toYardstick(bare[name] ?? name, when)
      ),
      atMost(5, `${name}, ${when}, connections opened`, connectionsAtMost, Math.max(...all.map((s) => s.connections)))
    ]
  }

  return {
    tables: whens.map((when) => ({
      title: `${searches} searches at once, ${when}`,
      columns: ["client", "exchanges", "failures", "connections", "ms", `of ${yardstick}`],
      rows: [...measured.keys()].filter((name) => of(name, when).length > 0).map((name) => [
        name,
        range(of(name, when).map(({ exchanges }) => exchanges)),
        range(of(name, when).map(({ failures }) => failures)),
        range(of(name, when).map(({ connections }) => connections)),
        median(millis(name, when)).toFixed(0),
        toYardstick(name, when).toFixed(2)
      ])
    })),
    goals: own.filter((name) => measured.has(name)).flatMap((name) => whens.flatMap((when) => goalOf(name, when)))
  }
}
