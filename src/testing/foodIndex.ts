/**
 * The search of the simulator: full text over everyday foods.
 *
 * @since 1.0.0
 */
import MiniSearch from "minisearch"
import type { Food } from "./foods.js"

/**
 * One food found by a search, as plain JSON.
 *
 * @since 1.0.0
 * @category models
 */
export interface FoodResult {
  readonly id: string
  readonly name: string
  readonly category: string
  /** How well the food fits the term, without a unit. */
  readonly score: number
  readonly per100g: Food["per100g"]
  readonly portion: Food["portion"]
}

/**
 * A full-text index over foods, tolerant of typing errors.
 *
 * @since 1.0.0
 * @category models
 */
export interface FoodIndex {
  /** At most 20 foods, the best first, and what the best of them are also called. */
  readonly search: (term: string) => {
    readonly results: ReadonlyArray<FoodResult>
    readonly alternateNames: ReadonlyArray<string>
  }
}

const maxResults = 20
const maxQueryWords = 16
const maxFuzzyWordLength = 24
const bestHits = 3

const stopWords = new Set(["a", "an", "and", "food", "for", "in", "of", "on", "or", "some", "the", "to", "with"])

const normalize = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()

/** A claim such as "low sugar" is one word, or else a search for it would find sugar that is low in fat. */
const words = (text: string): Array<string> =>
  normalize(text)
    .replace(/\bfibre\b/g, "fiber")
    .replace(/\b(low|high)[\s-]+(?:in[\s-]+)?(sugar|protein|fiber|fat)\b/g, "$1$2")
    .match(/[\p{L}\p{N}]+/gu) ?? []

const processTerm = (word: string): string | null =>
  stopWords.has(word)
    ? null
    : word.replace(/(?<=..)ies?$/, "y").replace(/oes$/, "o").replace(/(?<=.[^s])s$/, "")

/**
 * Builds a search index over the given foods.
 *
 * @since 1.0.0
 * @category constructors
 */
export const foodIndex = (foods: ReadonlyArray<Food>): FoodIndex => {
  const byId = new Map(foods.map((food) => [food.id, food]))
  const index = new MiniSearch<Food>({
    fields: ["name", "alternateNames", "tags", "category"],
    tokenize: words,
    processTerm,
    searchOptions: {
      tokenize: (term) => words(term).slice(0, maxQueryWords),
      boost: { name: 4, alternateNames: 3, tags: 1.5 },
      prefix: (word) => word.length > 2,
      fuzzy: (word) => word.length > 3 && word.length <= maxFuzzyWordLength ? 0.2 : false,
      maxFuzzy: 2,
      weights: { prefix: 0.5, fuzzy: 0.3 }
    }
  })
  index.addAll(foods)
  return {
    search: (term) => {
      const strict = index.search(term, { combineWith: "AND" })
      const hits = (strict.length > 0 ? strict : index.search(term, { combineWith: "OR" }))
        .slice(0, maxResults)
        .flatMap(({ id, score }) => {
          const food = byId.get(id)
          return food === undefined ? [] : [{ food, score }]
        })
      const asked = normalize(term).trim()
      return {
        results: hits.map(({ food: { category, id, name, per100g, portion }, score }) => ({
          id,
          name,
          category,
          score: Math.round(score * 1000) / 1000,
          per100g,
          portion
        })),
        alternateNames: [...new Set(hits.slice(0, bestHits).flatMap(({ food }) => food.alternateNames))]
          .filter((name) => normalize(name) !== asked)
      }
    }
  }
}
