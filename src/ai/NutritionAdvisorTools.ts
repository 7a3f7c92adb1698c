/**
 * The tool `search_foods` for `@effect/ai`. Results are limited in size to fit into a model's context, and failures are messages for the
 * model.
 *
 * @since 1.0.0
 * @module
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { fitResult } from "../internal/ai/fitResult.js"
import { messageForModel } from "../internal/ai/messageForModel.js"
import { declarations, searchFoodsTool } from "../internal/ai/searchFoodsTool.js"
import { parse } from "../internal/options/declarations.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { ConfigurationError, NutritionAdvisorError } from "../NutritionAdvisorError.js"
import type * as FoodSearchTool from "./FoodSearchTool.js"

/**
 * The tool `search_foods`, which takes `{ term }` and returns a JSON object. A failed search returns a result that is marked as a failure,
 * with a message for the model, so that the conversation can continue.
 *
 * @since 1.0.0
 * @category tools
 */
export const SearchFoods = Tool.make(searchFoodsTool.name, {
  description: searchFoodsTool.description,
  parameters: { term: Schema.String.annotations({ description: searchFoodsTool.termDescription }) },
  success: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  failure: Schema.String,
  failureMode: "return"
}).annotate(Tool.Title, searchFoodsTool.title).annotate(Tool.Readonly, true).annotate(Tool.Destructive, false)
  .annotate(Tool.Idempotent, true)

/**
 * The toolkit of this library, for `LanguageModel.generateText({ toolkit })`. `layer` provides its handlers.
 *
 * @since 1.0.0
 * @category tools
 */
export const toolkit = Toolkit.make(SearchFoods)

/**
 * The options of the tool: the size and the content of its results.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<A = unknown, I = unknown, R = never> extends FoodSearchTool.Options {
  /** Decodes the payload. The model gets only the decoded value. The whole payload by default. */
  readonly schema?: Schema.Schema<A, I, R> | undefined
  /** A sentence for the model. It is added to each result as the field `note`. None by default. */
  readonly note?: string | undefined
}

/**
 * Provides the handlers of `toolkit`, which use the NutritionAdvisor in the context. Fails with ConfigurationError if an option is invalid.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = <A, I, R = never>(
  { schema, ...options }: Options<A, I, R> = {}
): Layer.Layer<Tool.Handler<"search_foods">, ConfigurationError, NutritionAdvisor.NutritionAdvisor | R> =>
  toolkit.toLayer(Effect.gen(function*() {
    const settings = yield* parse(declarations, options)
    const context = yield* Effect.context<NutritionAdvisor.NutritionAdvisor | R>()
    return {
      search_foods: ({ term }: { readonly term: string }) => {
        const search: Effect.Effect<unknown, NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor | R> =
          schema === undefined ? NutritionAdvisor.search(term) : NutritionAdvisor.searchAs(schema)(term)
        return search.pipe(
          Effect.mapError(messageForModel),
          Effect.flatMap((payload) => fitResult(payload, settings)),
          Effect.provide(context)
        )
      }
    }
  }))
