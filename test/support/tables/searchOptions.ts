/** Values of each option of a search, for tests of every option. Some contain a marker that the leak tests look for. */
import type { Redacted } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { searchOption as marker } from "../leaks/secrets.js"

type Options = NutritionAdvisor.SearchOptions

/** An option that can be a string must reject blank ones, and null, which may be the identifier of a customer that wasn't found. */
type Blank<Value> = string extends Value ? readonly [blank: " ", empty: "", notFound: null] : readonly []

/** A number can't contain the marker. */
type Received<Value> = Value extends boolean | number ? string : `${string}${typeof marker}`

/** The second value of a secret is a Redacted, so that tests pass both a string and a Redacted. */
type Other<Value> = Redacted.Redacted extends Value ? Redacted.Redacted : Value

interface Row<Value> {
  /** Whether its values are secrets, which the simulator redacts. If so, the type of the option includes Redacted. */
  readonly isSecret: Redacted.Redacted extends Value ? true : false
  /** Two valid values. Each call creates new objects, so that SearchCache can't recognize a value by its identity. */
  readonly values: () => readonly [withMarker: Value, other: Other<Value>]
  /** The part of a request that depends on the option. */
  readonly received: (request: Simulator.SeenRequest) => unknown
  /** What the service receives for the two values. */
  readonly expected: readonly [withMarker: Received<Value>, other: string]
  /** Values for which nothing is sent. The error must not contain the marker. */
  readonly invalid: readonly [withMarker: Value, ...Blank<Value>]
}

/** The compiler demands a row for a new option. */
export const rows: { readonly [Name in keyof Options]-?: Row<NonNullable<Options[Name]>> } = {
  urlParams: {
    isSecret: false,
    values: () => [{ customer: marker }, { customer: "b" }],
    received: ({ query }) => new URLSearchParams(query).get("customer"),
    expected: [marker, "b"],
    invalid: [{ customer: `${marker}\ud800` }]
  },
  headers: {
    isSecret: false,
    values: () => [{ "x-customer": marker }, { "x-customer": "b" }],
    received: ({ headers }) => headers["x-customer"],
    expected: [marker, "b"],
    invalid: [{ "x-customer": `${marker}\r\n` }]
  }
}

/** How often the leak tests expect the marker in a search with all options. Secrets don't count: their headers are removed first. */
export const markedPlaces = Object.values(rows)
  .filter(({ expected: [withMarker], isSecret }) => !isSecret && withMarker.includes(marker)).length

/** All options in one search, each with the first or the second of its values. */
export const together = (index: 0 | 1): Options =>
  Object.fromEntries(Object.entries(rows).map(([name, { values }]) => [name, values()[index]]))
