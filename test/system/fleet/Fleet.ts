/** A fleet of replicas: the program is bundled once, and each replica is a Node process of its own. */
import { Array as Arr, Effect, type Scope } from "effect"
import type { Bundle } from "../bundle.js"
import * as OrderedProcess from "../storms/OrderedProcess.js"
import type { Greeting, Order, Report, Settings } from "./replicaProcess.js"

export type Replica = OrderedProcess.OrderedProcess<Greeting, Order, Report>

const added = (counts: ReadonlyArray<Readonly<Record<string, number>>>) => {
  const sums: Record<string, number> = {}
  for (const [name, count] of counts.flatMap(Object.entries<number>)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

/** The reports of a fleet, added up. */
const sumOf = (reports: ReadonlyArray<Report>) => ({
  answered: reports.reduce((sum, { answered }) => sum + answered, 0),
  failed: added(reports.map(({ failed }) => failed)),
  exchangedAlone: added(reports.map(({ tokens }) => tokens))["ExchangedAlone"] ?? 0,
  warnings: reports.reduce((sum, { warnings }) => sum + warnings, 0)
})

/** Starts replicas together, and waits until each of them is ready; what is left of them ends with the scope. */
export const start = (
  size: number,
  { file }: Bundle,
  settings: Settings
): Effect.Effect<ReadonlyArray<Replica>, never, Scope.Scope> =>
  Effect.all(
    Arr.makeBy(size, () => OrderedProcess.start<Greeting, Order, Report>([file, JSON.stringify(settings)])),
    { concurrency: "unbounded" }
  )

/** Gives one order to all replicas at the same moment, and waits until the last has carried it out. */
export const tell = (replicas: ReadonlyArray<Replica>, order: Order) =>
  Effect.map(Effect.all(replicas.map((replica) => replica.tell(order)), { concurrency: "unbounded" }), sumOf)

/** Lets all replicas end by themselves: their exit codes. */
export const end = (replicas: ReadonlyArray<Replica>): Effect.Effect<ReadonlyArray<number | null>> =>
  Effect.all(replicas.map(({ end }) => end), { concurrency: "unbounded" })
