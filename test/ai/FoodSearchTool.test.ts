import { expect, it, vi } from "@effect/vitest"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { FoodSearchTool } from "effect-nutrition-advisor/ai"
import { messageForModel } from "../../src/internal/ai/messageForModel.js"
import { simulatedClient } from "../promise/simulatedClient.js"

const payload = { results: [{ name: "oats", kcal: 380 }] }

const found = FoodSearchTool.make({ search: async () => payload })

const failing = (error: unknown) => FoodSearchTool.make({ search: () => Promise.reject(error) })

const serverError = new NutritionAdvisorError.ServerError({ operation: "search", status: 503, retryAfter: 30 })

it("FoodSearchTool: it has a name, a title, a description and an input schema", () => {
  expect(found).toMatchObject({
    name: "search_foods",
    title: "Search foods",
    description: expect.stringMatching(/^Searches foods/),
    inputSchema: {
      type: "object",
      properties: { term: { type: "string", description: expect.any(String) } },
      required: ["term"],
      additionalProperties: false
    }
  })
})

const wrongOptions: ReadonlyArray<readonly [field: string, what: string, options: object]> = [
  ["maxResultBytes", "NaN, as Number returns for a missing variable", { maxResultBytes: Number(undefined) }],
  ["maxResultBytes", "a string", { maxResultBytes: "8192" }],
  ["maxResultBytes", "zero", { maxResultBytes: 0 }],
  ["fields", "a string", { fields: "name,per100g" }],
  ["maxBytes", "not an option", { maxBytes: 8_192 }]
]

it.each(wrongOptions)(
  "FoodSearchTool: it throws a ConfigurationError that names %s if it is %s",
  (field, _, options) => {
    expect(() => FoodSearchTool.make({ search: async () => payload }, options))
      .toThrow(expect.objectContaining({ _tag: "ConfigurationError", field }))
  }
)

it.each([
  ["have other fields", { term: "oats", limit: 3 }],
  ["be a JSON string", "{\"term\":\"oats\"}"]
])("FoodSearchTool: the input may %s", async (_, input) => {
  const echo = FoodSearchTool.make({ search: async (term) => ({ term }) })
  expect(await echo.execute(input)).toEqual({ term: "oats" })
})

it.each([[undefined], [null], [5], ["oats"], [[]], ["5"], [{}], [{ term: 5 }], [{ term: "" }], [{ term: " \n" }]])(
  "FoodSearchTool: the input %j is rejected without a search",
  async (input) => {
    const search = vi.fn()
    const error = { _tag: "ToolError", message: expect.stringContaining("one field, `term`") }
    await expect(FoodSearchTool.make({ search }).execute(input)).rejects.toMatchObject(error)
    expect(search).not.toHaveBeenCalled()
  }
)

it("FoodSearchTool: a failed search rejects with a ToolError that explains the failure to the model", async () => {
  const error = await failing(serverError).execute({ term: "oats" }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(FoodSearchTool.ToolError)
  expect(error).toMatchObject({ _tag: "ToolError", message: messageForModel(serverError), cause: serverError })
})

it("FoodSearchTool: a failed search of the promise client is explained without mentioning the redacted body", async () => {
  await using simulated = simulatedClient()
  await simulated.run(({ provoke }) => provoke("search", "bad-request"))
  await expect(FoodSearchTool.make(simulated.advisor).execute({ term: "oats" })).rejects.toMatchObject({
    message: expect.not.stringContaining("redacted"),
    cause: { _tag: "BadRequest", body: expect.anything(), message: expect.stringContaining("redacted") }
  })
})

it("FoodSearchTool: a payload that can't be shortened rejects with ToolError", async () => {
  const foods = FoodSearchTool.make({ search: async () => ({ text: "x".repeat(40_000) }) })
  const error = { _tag: "ToolError", message: expect.stringContaining("narrower term") }
  await expect(foods.execute({ term: "oats" })).rejects.toMatchObject(error)
})

it("FoodSearchTool: any other error of the search is rethrown unchanged", async () => {
  const error = new TypeError("a bug")
  await expect(failing(error).execute({ term: "oats" })).rejects.toBe(error)
})

it.each([
  ["as the options", null],
  ["as the signal", { signal: null }]
])("FoodSearchTool: null %s counts as none", async (_, options) => {
  expect(await found.execute({ term: "oats" }, options)).toEqual(payload)
  await expect(failing(serverError).execute({ term: "oats" }, options)).rejects.toHaveProperty("cause", serverError)
})

it("FoodSearchTool: the search gets the signal", async () => {
  const controller = new AbortController()
  const foods = FoodSearchTool.make({
    search: (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  })
  const searching = foods.execute({ term: "oats" }, { signal: controller.signal })
  controller.abort(serverError)
  await expect(searching).rejects.toBe(serverError)
})

it("FoodSearchTool: the client may be an object whose search uses this", async () => {
  class Advisor {
    private readonly found = payload
    async search() {
      return this.found
    }
  }
  expect(await FoodSearchTool.make(new Advisor()).execute({ term: "oats" })).toEqual(payload)
})

it("FoodSearchTool: it works without Buffer, as in Workers", async () => {
  const { Buffer: kept } = globalThis
  Reflect.deleteProperty(globalThis, "Buffer")
  const result = await found.execute({ term: "oats" }).finally(() => globalThis.Buffer = kept)
  expect(result).toEqual(payload)
})
