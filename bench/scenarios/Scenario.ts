/** A part of the benchmark: what it is told and what it gives. */
import type { ClientName } from "../clients/names.js"
import type { Goal } from "../goals.js"
import type { Flags } from "../Stage.js"
import type { Table } from "../table.js"

export interface Plan extends Flags {
  readonly quick: boolean
  readonly rounds: number
  /** Of each slice, after a warm-up of the same length. */
  readonly millis: number
  readonly levels: ReadonlyArray<number> | undefined
  readonly isChosen: (name: ClientName) => boolean
  /** Whether the clients were asked for by their names: then a quick run leaves none out. */
  readonly isAsked: boolean
  readonly say: (progress: string) => void
}

export interface Report {
  readonly tables: ReadonlyArray<Table>
  readonly goals: ReadonlyArray<Goal>
}

export type Scenario = (plan: Plan) => Promise<Report>
