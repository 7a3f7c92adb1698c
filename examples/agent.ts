/**
 * A model that asks for foods. The model is a double, so that nothing is sent anywhere: put a layer of @effect/ai-openai,
 * @effect/ai-anthropic or another provider in its place.
 * `npx tsx examples/agent.ts` needs
 * `npm install @effect/platform-node@^0.108 @effect/ai@^0.37 @effect/experimental@^0.61 @effect/rpc@^0.76`.
 */
import "./help.js"
import { Chat, LanguageModel, type Prompt } from "@effect/ai"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { NutritionAdvisorTools } from "effect-nutrition-advisor/ai"
import { AdvisorLive } from "./AdvisorLive.js"

const Foods = Schema.Struct({
  results: Schema.Array(Schema.Struct({ name: Schema.String, per100g: Schema.Struct({ proteinG: Schema.Number }) }))
})

const resultsIn = (prompt: Prompt.Prompt): ReadonlyArray<unknown> =>
  prompt.content.flatMap((message) => message.role === "tool" ? message.content.map(({ result }) => result) : [])

const bestOf = (result: unknown): string => {
  const [best] = Schema.decodeUnknownSync(Foods)(result).results
  return best === undefined ? "nothing was found" : `${best.name} has ${best.per100g.proteinG} g`
}

const terms = ["rolled oats", "quinoa, cooked"]

/** Asks for one food after the other, then answers with what it was told. */
const ModelDouble = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: ({ prompt }) => {
      const results = resultsIn(prompt)
      const term = terms[results.length]
      return Effect.succeed(
        term === undefined
          ? [{ type: "text", text: `Protein in 100 g: ${results.map(bestOf).join("; ")}.` }]
          : [{ type: "tool-call", id: `call-${results.length}`, name: "search_foods", params: { term } }]
      )
    },
    streamText: () => {
      throw new Error("this double does not stream")
    }
  })
)

const { toolkit } = NutritionAdvisorTools

const main = Effect.gen(function*() {
  const chat = yield* Chat.empty
  let response = yield* chat.generateText({ prompt: "What has more protein, oats or quinoa?", toolkit })
  while (response.toolCalls.length > 0) {
    for (const { params } of response.toolCalls) yield* Console.log(`The model searches for "${params.term}".`)
    response = yield* chat.generateText({ prompt: [], toolkit })
  }
  yield* Console.log(response.text)
})

const Tools = NutritionAdvisorTools.layer({ maxResultBytes: 4096, schema: Foods }).pipe(Layer.provide(AdvisorLive))

main.pipe(Effect.provide([Tools, ModelDouble]), NodeRuntime.runMain)
