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

export const counts = Effect.map(snapshot, (all) =>
  new Map(all.flatMap(({ count = 0, labels, name, type }) =>
    type === "counter" ? [[[name, ...Object.values(labels).sort()].join(" "), count] as const] : []
  )))
