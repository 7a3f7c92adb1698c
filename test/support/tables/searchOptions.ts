/** Values of each option of a search, for tests of every option. Some contain a marker that the leak tests look for. */
import { Redacted } from "effect"
import type { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { clientDeclarations } from "../../../src/internal/settings/settings.js"
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
}

/**
 * A secret, whose type includes Redacted. It is sent in a header, since URLs are logged. The simulator redacts it. Tests pass both a string
 * and a Redacted.
 */
type Row<Value> = Redacted.Redacted extends Value ? RowOf<string, Redacted.Redacted> & { readonly isSecret: true }
  : RowOf<Value, Value> & { readonly isSecret: false }

/** The compiler demands a row for a new option. */
export const rows: { readonly [Name in keyof Options]-?: Row<NonNullable<Options[Name]>> } = {
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

/** Values of a string that a caller may have by mistake: null may be the identifier of a customer that wasn't found. */
const invalidStrings = { blank: " ", empty: "", null: null }

const invalidSecrets = {
  "padded": " a",
  "not ASCII": "ü",
  "null in a Redacted": Redacted.make(null),
  "undefined in a Redacted": Redacted.make(undefined)
}

/** The client rejects these for its own option of the same name, so a search must reject them, too. */
const rejectedByClient = { "quoted": "\"a\"", "a placeholder": "<a>" }

const allRows: Readonly<Record<string, RowOf<unknown, unknown> & { readonly isSecret: boolean }>> = rows

/** For each option, values for which nothing is sent. */
export const invalid: ReadonlyArray<readonly [title: string, options: Options]> = Object.entries(allRows).flatMap(
  ([name, { invalid, isSecret, values }]) =>
    Object.entries({
      "malformed": invalid,
      ...typeof values()[0] === "string" && invalidStrings,
      ...isSecret && invalidSecrets,
      ...isSecret && name in clientDeclarations && rejectedByClient
    }).map(([fault, value]) => [`${name} is ${fault}`, { [name]: value }])
)

/** How often the leak tests expect the marker in a search with all options. Secrets don't count: their headers are removed first. */
export const markedPlaces = Object.values(rows)
  .filter(({ expected: [withMarker], isSecret }) => !isSecret && withMarker.includes(marker)).length

/** All options in one search, each with the first or the second of its values. */
export const together = (index: 0 | 1): Options =>
  Object.fromEntries(Object.entries(rows).map(([name, { values }]) => [name, values()[index]]))
