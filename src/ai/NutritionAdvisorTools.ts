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
import * as NutritionAdvisor from "../NutritionAdvisor.js"
import {
  BadRequest,
  ConfigurationError,
  LicenseKeyUnavailable,
  type NutritionAdvisorError
} from "../NutritionAdvisorError.js"

/**
 * The tool `search_foods`: takes `{ term }`, gives a JSON object. A search that fails is a result of the tool, marked as a failure:
 * its text is the error's `message`, so that the model can read it and go on.
 *
 * @since 1.0.0
 * @category tools
 */
export const SearchFoods = Tool.make("search_foods", {
  description:
    "Searches foods by meaning, at the Nutrition Advisor service. Use it for every question about foods, their " +
    "nutrients, calories or portions, and to find foods for a need, such as \"low sugar breakfast\". Returns JSON: the foods " +
    "that match, best match first. Where there are too many, a field `note` says how many are shown; a narrower term then helps.",
  parameters: {
    term: Schema.String.annotations({
      description: "A food, a dish, a brand or a need, in plain words; not blank. One term for each search."
    })
  },
  success: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  failure: Schema.String,
  failureMode: "return"
}).annotate(Tool.Title, "Search foods").annotate(Tool.Readonly, true).annotate(Tool.Destructive, false)
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
  /** Stands in the field `note` of each result, in the description of an MCP server's tool and in its instructions; none by default. */
  readonly note?: string | undefined
}

const tooLong = (maxBytes: number): string =>
  `The answer has more than ${maxBytes} bytes and no list that could be cut. Search with a narrower term.`

/** Why an exchange failed may be told in a text of the application's own, which is not for a model. */
const sentenceOf = (error: NutritionAdvisorError): string => {
  if (error._tag === "LicenseKeyUnavailable") return new LicenseKeyUnavailable({}).message
  const isOfToken = error._tag === "BadRequest" && error.operation === "token"
  return isOfToken ? new BadRequest({ ...error, detail: undefined }).message : error.message
}

/** Through JSON first: what a schema makes may be no JSON, and a payload may be shared. */
const resultOf = (payload: unknown, maxBytes: number, note: string | undefined) =>
  Effect.try({
    try: () => {
      const json: string | undefined = JSON.stringify(payload)
      return fit(JSON.parse(json ?? "null"), maxBytes, note)
    },
    catch: () => "The answer can't be written as JSON."
  }).pipe(Effect.filterOrFail((result) => result !== undefined, () => tooLong(maxBytes)))

/**
 * The handlers of `toolkit`, over the NutritionAdvisor in the context. Building it ends in ConfigurationError where `maxResultBytes`
 * is no whole number above zero.
 *
 * @since 1.0.0
 * @category layers
 */
export const layer = <A, I, R = never>(
  { maxResultBytes = 32 * 1024, note, schema }: Options<A, I, R> = {}
): Layer.Layer<Tool.Handler<"search_foods">, ConfigurationError, NutritionAdvisor.NutritionAdvisor | R> =>
  toolkit.toLayer(Effect.gen(function*() {
    if (!Number.isSafeInteger(maxResultBytes) || maxResultBytes <= 0) {
      return yield* new ConfigurationError({ field: "maxResultBytes" })
    }
    const context = yield* Effect.context<NutritionAdvisor.NutritionAdvisor | R>()
    return {
      search_foods: ({ term }) =>
        (schema === undefined ? NutritionAdvisor.search(term) : NutritionAdvisor.searchAs(schema)(term)).pipe(
          Effect.mapError(sentenceOf),
          Effect.flatMap((payload) => resultOf(payload, maxResultBytes, note)),
          Effect.provide(context)
        )
    }
  }))
