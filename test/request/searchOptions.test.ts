import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import type { Simulator } from "effect-nutrition-advisor/testing"
import { arranged } from "../support/doubles/arranged.js"
import { advisor } from "../support/doubles/simulatedAdvisor.js"
import { requestsOf } from "../support/doubles/simulator.js"

type Row<Name extends keyof NutritionAdvisor.SearchOptions> = readonly [
  value: NonNullable<NutritionAdvisor.SearchOptions[Name]>,
  sent: (request: Simulator.SeenRequest) => unknown,
  expected: unknown
]

/** A value of each option, and what the service receives: the compiler asks for a row for a new option. */
const rows: { readonly [Name in keyof NutritionAdvisor.SearchOptions]-?: Row<Name> } = {
  urlParams: [{ page: 2 }, ({ query }) => query, "term=oats&page=2"],
  headers: [{ "x-request-id": "request-1" }, ({ headers }) => headers["x-request-id"], "request-1"]
}

const test = arranged(Effect.void, advisor())

test.each(Object.entries(rows))(
  "search: the service receives the option %s",
  function*([name, [value, sent, expected]]) {
    // Whether or not the simulator accepts the value.
    yield* Effect.exit(NutritionAdvisor.search("oats", { [name]: value }))
    expect((yield* requestsOf("search")).map(sent)).toEqual([expected])
  }
)
