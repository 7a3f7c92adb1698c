/** The goals of issue 6 and what was measured for each. */
import type { Table } from "./table.js"

export interface Goal {
  readonly number: number
  readonly what: string
  readonly target: string
  readonly figure: string
  /** What the same has with no library in it, where that was measured beside it. */
  readonly bare?: string
  readonly isMet: boolean
}

const shown = (figure: number) => Number.isInteger(figure) || figure >= 10 ? figure.toFixed(0) : figure.toFixed(2)

export const atMost = (number: number, what: string, limit: number, figure: number, unit = ""): Goal => ({
  number,
  what,
  target: `at most ${limit}${unit}`,
  figure: `${shown(figure)}${unit}`,
  isMet: figure <= limit
})

export const atLeast = (number: number, what: string, limit: number, figure: number): Goal => ({
  number,
  what,
  target: `at least ${limit}`,
  figure: figure.toFixed(2),
  isMet: figure >= limit
})

export const beside = (goal: Goal, bare: number | undefined, unit = ""): Goal =>
  bare === undefined || Number.isNaN(bare) ? goal : { ...goal, bare: `${shown(bare)}${unit}` }

export const goalsTable = (goals: ReadonlyArray<Goal>): Table => ({
  title: "The goals",
  columns: ["goal", "what", "target", "measured", "bare", ""],
  rows: [...goals].sort((a, b) => a.number - b.number).map(({ bare = "", figure, isMet, number, target, what }) => [
    String(number),
    what,
    target,
    figure,
    bare,
    isMet ? "met" : "NOT MET"
  ])
})
