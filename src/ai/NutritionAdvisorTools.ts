/**
 * The food search as a tool for language models: results that fit into a context, failures as sentences.
 *
 * @since 1.0.0
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { fit } from "../internal/ai/fit.js"
import { maxResultBytes, tool } from "../internal/ai/tool.js"
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import type { NutritionAdvisorError } from "../NutritionAdvisorError.js"

/**
 * The tool `search_foods`: takes `{ term }`, gives a JSON object. A search that fails is a result of the tool, marked as a failure:
 * its text is the error's `message`, so that the model can read it and go on.
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
 * The tools of this library, for `LanguageModel.generateText({ toolkit })`; `layer` gives their handlers.
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
export interface Options<A = unknown, I = unknown, R = never> {
  /** The most bytes of JSON in a result; 32 KiB by default. */
  readonly maxResultBytes?: number | undefined
  /** Takes from a payload what the model is to see; the whole payload by default. */
  readonly schema?: Schema.Schema<A, I, R> | undefined
  /** Stands in the field `note` of each result; none by default. */
  readonly note?: string | undefined
}

/**
 * The handlers of `toolkit`, over the NutritionAdvisor in the context.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = <A, I, R = never>(
  { maxResultBytes: maxBytes = maxResultBytes, note, schema }: Options<A, I, R> = {}
): Layer.Layer<Tool.Handler<"search_foods">, never, NutritionAdvisor.NutritionAdvisor | R> =>
  toolkit.toLayer(Effect.map(Effect.context<NutritionAdvisor.NutritionAdvisor | R>(), (context) => ({
    search_foods: ({ term }: { readonly term: string }) => {
      const search: Effect.Effect<unknown, NutritionAdvisorError, NutritionAdvisor.NutritionAdvisor | R> =
        schema === undefined ? NutritionAdvisor.search(term) : NutritionAdvisor.searchAs(schema)(term)
      return search.pipe(
        Effect.mapError(({ message }) => message),
        Effect.map((payload) => fit(payload, maxBytes, note)),
        Effect.flatMap((result) => typeof result === "string" ? Effect.fail(result) : Effect.succeed(result)),
        Effect.provide(context)
      )
    }
  })))
