/** Values of each option of a search, for tests of every option. Some contain a marker that the leak tests look for. */
import type { Redacted } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { searchOption as marker } from "../leaks/secrets.js"

type Options = NutritionAdvisor.SearchOptions

/** Values that a caller may have by mistake: null may be the identifier of a customer that wasn't found. */
type Unset = readonly [blank: " ", empty: "", notFound: null]

/** Any option but a boolean or a number can contain the marker. */
type Received<Value> = Value extends boolean | number ? string : `${string}${typeof marker}`

interface RowOf<Value, Other> {
  /** Two valid values. Each call creates new objects, so that SearchCache can't recognize a value by its identity. */
  readonly values: () => readonly [withMarker: Value, other: Other]
  /** The part of a request that depends on the option. */
  readonly received: (request: Simulator.SeenRequest) => unknown
  /** What the service receives for the two values. */
  readonly expected: readonly [withMarker: Received<Value>, other: string]
}

interface PlainRow<Value> extends RowOf<Value, Value> {
  readonly isSecret: false
  /** Values for which nothing is sent. The error must not contain the marker. */
  readonly invalid: readonly [withMarker: Value, ...(string extends Value ? Unset : readonly [])]
}

/** Values that the client rejects for its own option of this name, which a search must reject, too. */
type RejectedByClient<Name> = Name extends keyof NutritionAdvisor.Options ?
  readonly [quoted: "\"a\"", placeholder: "<a>"]
  : readonly []

/**
 * A secret, whose type includes Redacted. It is sent in a header, since URLs are logged. The simulator redacts it. Tests pass both a string
 * and a Redacted.
 */
interface SecretRow<Name> extends RowOf<string, Redacted.Redacted> {
  readonly isSecret: true
  readonly invalid: readonly [
    withMarker: string,
    ...Unset,
    padded: " a",
    notAscii: "ü",
    wrappedNull: Redacted.Redacted<null>,
    wrappedUndefined: Redacted.Redacted<undefined>,
    ...RejectedByClient<Name>
  ]
}

type Row<Name, Value> = Redacted.Redacted extends Value ? SecretRow<Name> : PlainRow<Value>

/** The compiler demands a row for a new option. */
export const rows: { readonly [Name in keyof Options]-?: Row<Name, NonNullable<Options[Name]>> } = {
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
