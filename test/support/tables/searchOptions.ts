/** Values of each option of a search, for tests of every option. Some contain a marker that the leak tests look for. */
import type { Redacted } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { searchOption as marker } from "../leaks/secrets.js"

type Options = NutritionAdvisor.SearchOptions

/** Any option but a boolean or a number can contain the marker. */
type Received<Value> = Value extends boolean | number ? string : `${string}${typeof marker}`

interface RowOf<Value, Other> {
  /** Two valid values. Each call creates new objects, so that SearchCache can't recognize a value by its identity. */
  readonly values: () => readonly [withMarker: Value, other: Other]
  /** The part of a request that depends on the option. */
  readonly received: (request: Simulator.SeenRequest) => unknown
  /** What the service receives for the two values. */
  readonly expected: readonly [withMarker: Received<Value>, other: string]
  /** A value with the marker, for which nothing is sent. The error must not contain the marker. */
  readonly invalid: Value
  /** The options that a simulator needs to accept both values. */
  readonly simulator?: Simulator.Options
}

/**
 * A secret, whose type includes Redacted. It is sent in a header, since URLs are logged. The simulator redacts it. Tests pass both a string
 * and a Redacted.
 */
type Row<Value> = Redacted.Redacted extends Value ? RowOf<string, Redacted.Redacted> & { readonly isSecret: true }
  : RowOf<Value, Value> & { readonly isSecret: false }

/** The compiler demands a row for a new option. */
export const searchOptionRows: { readonly [Name in keyof Options]-?: Row<NonNullable<Options[Name]>> } = {
  urlParams: {
    isSecret: false,
    values: () => [{ customer: marker }, { customer: "b" }],
    received: ({ query }) => new URLSearchParams(query).get("customer"),
    expected: [marker, "b"],
    invalid: { customer: `${marker}\ud800` }
  },
  headers: {
    isSecret: false,
    values: () => [{ "x-customer": marker }, { "x-customer": "b" }],
    received: ({ headers }) => headers["x-customer"],
    expected: [marker, "b"],
    invalid: { "x-customer": `${marker}\r\n` }
  }
}

/** How often the leak tests expect the marker in a search with all options. Secrets don't count: their headers are removed first. */
export const markedPlaces = Object.values(searchOptionRows)
  .filter(({ expected: [withMarker], isSecret }) => !isSecret && withMarker.includes(marker)).length

/** All options in one search, each with the first or the second of its values. */
export const allOptions = (index: 0 | 1): Options =>
  Object.fromEntries(Object.entries(searchOptionRows).map(([name, { values }]) => [name, values()[index]]))
