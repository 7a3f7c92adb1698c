/**
 * The tool `search_foods` for `@effect/ai`: results that fit into a model's context, and failures as sentences.
 *
 * @since 1.0.0
 * @module
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { messageOf } from "../internal/ai/failure.js"
import { fit } from "../internal/ai/fit.js"
import { tool } from "../internal/ai/tool.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"
import type * as FoodSearchTool from "./FoodSearchTool.js"

/**
 * The tool `search_foods`: takes `{ term }` and returns a JSON object. A failed search is a result that is marked as a failure. Its text is
 * written for the model, so that the model can read it and go on.
 *
 * @since 1.0.0
 * @category tools
 */
export const SearchFoods = Tool.make(tool.name, {
  description: tool.description,
  parameters: { term: Schema.String.annotations({ description: tool.term }) },
  success: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  failure: Schema.String,
  failureMode: "return"
}).annotate(Tool.Title, tool.title).annotate(Tool.Readonly, true).annotate(Tool.Destructive, false)
  .annotate(Tool.Idempotent, true)

/**
 * The tools of this library, for `LanguageModel.generateText({ toolkit })`. `layer` provides their handlers.
 *
 * @since 1.0.0
 * @category tools
 */
export const toolkit = Toolkit.make(SearchFoods)

/**
 * What a result of the tools holds.
 *
 * @since 1.0.0
 * @category models
 */
export interface Options<A = unknown, I = unknown, R = never>
  extends Pick<FoodSearchTool.Options, "maxResultBytes" | "fields">
{
  /** Decodes the payload to what the model gets to see; the whole payload by default. */
  readonly schema?: Schema.Schema<A, I, R> | undefined
  /** A sentence for the model, added to each result as the field `note`; none by default. */
  readonly note?: string | undefined
}

/**
 * The handlers of `toolkit`, over the NutritionAdvisor in the context.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = <A, I, R = never>(
  { schema, ...options }: Options<A, I, R> = {}
): Layer.Layer<Tool.Handler<"search_foods">, never, NutritionAdvisor.NutritionAdvisor | R> =>
  toolkit.toLayer(Effect.map(Effect.context<NutritionAdvisor.NutritionAdvisor | R>(), (context) => ({
    search_foods: ({ term }: { readonly term: string }) => {
      const search: Effect.Effect<unknown, NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor | R> =
        schema === undefined ? NutritionAdvisor.search(term) : NutritionAdvisor.searchAs(schema)(term)
      return search.pipe(
        Effect.mapError(messageOf),
        Effect.map((payload) => fit(payload, options)),
        Effect.flatMap((result) => typeof result === "string" ? Effect.fail(result) : Effect.succeed(result)),
        Effect.provide(context)
      )
    }
  })))
