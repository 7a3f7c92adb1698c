import type { Food } from "./foods.js"

const maxResults = 20

const stopWords = new Set(["a", "an", "and", "food", "for", "in", "of", "on", "or", "some", "the", "to", "with"])

/** Turns a plural into the singular, so that "apples" finds "Apple". */
const stem = (word: string): string => word.replace(/(?<=..)ies$/, "y").replace(/oes$/, "o").replace(/(?<=.[^s])s$/, "")

const stemsOf = (text: string): Array<string> =>
  (text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !stopWords.has(word))
    .map(stem)

/** The words of each field, and the weight of a match in it. */
const fieldsOf = ({ alternateNames, category, name, tags }: Food) =>
  [
    [stemsOf(name), 4],
    [stemsOf(alternateNames.join(" ")), 3],
    [stemsOf([...tags, category].join(" ")), 1]
  ] as const

/** A whole word counts twice as much as the beginning of one. */
const matchOf = (stems: ReadonlyArray<string>, wanted: string): number => {
  if (stems.includes(wanted)) return 1
  return wanted.length > 2 && stems.some((stem) => stem.startsWith(wanted)) ? 0.5 : 0
}

/** A match in a short field counts more than in a long one. */
const scoreOf = (fields: ReturnType<typeof fieldsOf>, wanted: string): number =>
  Math.max(...fields.map(([stems, weight]) => matchOf(stems, wanted) * weight * (1 + 1 / (1 + stems.length))))

/** Finds the foods that match the most words of a term, best first, and the alternate names of the first three. */
export const foodIndex = (foods: ReadonlyArray<Food>) => {
  const entries = foods.map((food) => ({ food, fields: fieldsOf(food) }))
  return (term: string) => {
    const wanted = stemsOf(term)
    const found = entries.map(({ fields, food }) => {
      const scores = wanted.map((word) => scoreOf(fields, word)).filter((score) => score > 0)
      return { food, words: scores.length, score: scores.reduce((sum, score) => sum + score, 0) }
    })
    const most = Math.max(1, ...found.map(({ words }) => words))
    const best = found
      .filter(({ words }) => words === most)
      .sort((one, other) => other.score - one.score)
      .slice(0, maxResults)
    return {
      results: best.map(({ food: { category, id, name, per100g, portion }, score }) => (
        { id, name, category, score: Math.round(score * 1000) / 1000, per100g, portion }
      )),
      alternateNames: [...new Set(best.slice(0, 3).flatMap(({ food }) => food.alternateNames))]
    }
  }
}
