// Effect 4 keeps metrics in other records.
import { Effect, Metric } from "effect"

const numbers = (state: object) =>
  Object.fromEntries(Object.entries(state).flatMap(([name, value]) => value instanceof Object ? [] : [[name, Number(value)]]))

export const snapshot = Effect.map(Metric.snapshot, (all) =>
  all.map(({ attributes, id, state, type }) => ({
    ...numbers(state) as { readonly count?: number; readonly sum?: number; readonly value?: number },
    name: id,
    labels: { ...attributes },
    type: type.toLowerCase()
  })))

export type Measured = Effect.Success<typeof snapshot>[number]
