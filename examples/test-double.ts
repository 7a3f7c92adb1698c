/**
 * Tests code that searches, without the service: a test double replaces the layer.
 * `npx tsx examples/test-double.ts` needs nothing besides the package.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import { NutritionAdvisor, NutritionAdvisorError } from "effect-nutrition-advisor"
import { NutritionAdvisorTest } from "effect-nutrition-advisor/testing"

const isKnownFood = (term: string) =>
  NutritionAdvisor.search(term).pipe(
    Effect.map((payload) => JSON.stringify(payload).includes(term)),
    Effect.catchTag("ServerError", () => Effect.succeed(false))
  )

const known = await Effect.runPromise(
  isKnownFood("quince").pipe(
    Effect.provide(NutritionAdvisorTest.layer({ search: () => Effect.succeed({ results: [{ name: "quince" }] }) }))
  )
)
assert.equal(known, true)

const duringOutage = await Effect.runPromise(
  isKnownFood("quince").pipe(
    Effect.provide(
      NutritionAdvisorTest.layerFailing(new NutritionAdvisorError.ServerError({ operation: "search", status: 503 }))
    )
  )
)
assert.equal(duringOutage, false)

const asked = await Effect.runPromise(
  Effect.gen(function*() {
    yield* isKnownFood("quince")
    return yield* yield* NutritionAdvisorTest.RecordedSearches
  }).pipe(Effect.provide(NutritionAdvisorTest.layerRecording()))
)
assert.deepEqual(asked.map(({ term }) => term), ["quince"])

console.log("The double responded, failed and recorded.")
