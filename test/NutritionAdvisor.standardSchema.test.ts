import { describe, expect } from "@effect/vitest"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import { type } from "arktype"
import { Cause, Effect, Exit, Fiber, Layer, Option, Schema } from "effect"
import { NutritionAdvisor, NutritionAdvisorError, RequestRetry, SearchCache, Throttle } from "effect-nutrition-advisor"
import { NutritionAdvisorTest, Simulator } from "effect-nutrition-advisor/testing"
import * as v from "valibot"
import { z } from "zod"
import { arranged } from "./doubles/arranged.js"
import { inspected } from "./leaks/rendering.js"

const payload = { total: "3", secret: "never shown" }

const Client = NutritionAdvisor.layer({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey }).pipe(
  Layer.provide(Layer.effectDiscard(
    Effect.flatMap(
      Simulator.Simulator,
      ({ respondAlways }) => respondAlways("search", { status: 200, body: payload })
    )
  )),
  Layer.provide(Simulator.layerHttpClient())
)

const search = () => Effect.succeed(payload)

/** Everything that has a `searchAs`. */
const clients: ReadonlyArray<readonly [string, Layer.Layer<NutritionAdvisor.NutritionAdvisor, unknown>]> = [
  ["the client", Client],
  ["RequestRetry", Layer.provide(RequestRetry.layer(), Client)],
  ["Throttle", Layer.provide(Throttle.layer(), Client)],
  ["SearchCache", Layer.provide(SearchCache.layer({ timeToLive: "1 hour" }), Client)],
  ["SearchCache.layerCoalescing", Layer.provide(SearchCache.layerCoalescing, Client)],
  ["a double", NutritionAdvisorTest.layer({ search })],
  ["a recording double", NutritionAdvisorTest.layerRecording({ search })],
  [
    "a recording double with a searchAs",
    NutritionAdvisorTest.layerRecording({ searchAs: NutritionAdvisorTest.make({ search }).searchAs })
  ]
]

const schemaOf = <A>(validate: StandardSchemaV1.Props<unknown, A>["validate"]): StandardSchemaV1<unknown, A> => ({
  "~standard": { version: 1, vendor: "made by hand", validate }
})

const callable = Object.assign(() => 0, schemaOf((value) => ({ value: Object.keys(Object(value)) })))

const seconds = z.string().refine((text) => Promise.resolve(text === "3"))

/** What each makes of the payload. */
const accepting: ReadonlyArray<readonly [string, StandardSchemaV1, unknown]> = [
  ["zod", z.object({ total: z.string().transform(Number) }), { total: 3 }],
  ["zod with a promise", z.object({ total: seconds }), { total: "3" }],
  ["valibot", v.object({ total: v.pipe(v.string(), v.transform(Number)) }), { total: 3 }],
  ["valibot with a promise", v.objectAsync({ total: v.pipeAsync(v.string(), v.checkAsync(async () => true)) }), {
    total: "3"
  }],
  ["arktype, which is a function", type({ total: "string.numeric.parse", "+": "delete" }), { total: 3 }],
  ["a function with ~standard", callable, ["total", "secret"]],
  ["an answer without issues", schemaOf(() => ({ value: undefined, issues: undefined })), undefined]
]

const refusing: ReadonlyArray<readonly [string, StandardSchemaV1]> = [
  ["zod", z.object({ secret: z.number() })],
  ["zod with a promise", z.object({ secret: z.string().refine(async () => false, "never shown") })],
  ["valibot", v.object({ secret: v.number() })],
  ["arktype", type({ secret: "number" })],
  ["no issue at all", schemaOf(() => ({ issues: [] }))],
  ["a promise of issues", schemaOf(async (value) => ({ issues: [{ message: JSON.stringify(value) }] }))]
]

describe.each(clients)("searchAs of %s", (_, layer) => {
  const test = arranged(Effect.void, layer)

  test.each(accepting)("gives the output of a schema of %s", function*([, schema, output]) {
    const { searchAs } = yield* NutritionAdvisor.NutritionAdvisor
    expect(yield* searchAs(schema)("oats")).toEqual(output)
    expect(yield* NutritionAdvisor.searchAs(schema)("oats")).toEqual(output)
  })

  test.each(refusing)("shows nothing of payload and issues where a schema refuses: %s", function*([, schema]) {
    const exit = yield* Effect.exit(NutritionAdvisor.searchAs(schema)("oats"))
    expect(exit).toEqual(Exit.fail(
      new NutritionAdvisorError.UnexpectedResponse({ operation: "search", status: 200, reason: "Schema" })
    ))
    expect(inspected(exit)).not.toMatch(/never shown|issue|expected string|zod|valibot|arktype/i)
  })

  const bug = new Error("a bug of the schema")

  test.each<readonly [string, StandardSchemaV1]>([
    [
      "throws",
      schemaOf(() => {
        throw bug
      })
    ],
    ["rejects", schemaOf(() => Promise.reject(bug))],
    ["rejects later", schemaOf(() => new Promise((_, reject) => setImmediate(() => reject(bug))))]
  ])("dies of what a validator %s", function*([, schema]) {
    const exit = yield* Effect.exit(NutritionAdvisor.searchAs(schema)("oats"))
    expect(Exit.isFailure(exit) ? Cause.dieOption(exit.cause) : exit).toEqual(Option.some(bug))
  })

  test("waits for no validator where it is interrupted", function*() {
    const isAsked = yield* Effect.makeLatch()
    const hanging = schemaOf(() => {
      isAsked.unsafeOpen()
      return new Promise<never>(() => {})
    })
    const fiber = yield* Effect.fork(NutritionAdvisor.searchAs(hanging)("oats"))
    yield* isAsked.await
    expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
  })

  test("takes an Effect Schema that has ~standard for an Effect Schema", function*() {
    class Total extends Schema.Class<Total>("Total")({ total: Schema.NumberFromString }) {
      static readonly "~standard" = schemaOf(() => ({ value: "validated" }))["~standard"]
    }
    expect(yield* NutritionAdvisor.searchAs(Total)("oats")).toBeInstanceOf(Total)
  })
})
