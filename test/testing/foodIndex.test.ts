import { expect, it } from "@effect/vitest"
import { foodIndex } from "../../src/testing/simulator/foodIndex.js"
import { foods } from "../../src/testing/simulator/foods.js"

const search = foodIndex(foods)

const names = (term: string) => search(term).results.map(({ name }) => name)

it.each([
  ["greek yogurt", "Greek yogurt, plain", "its name"],
  ["apples", "Apple", "the plural of its name"],
  ["pinea", "Pineapple", "the beginning of a word"],
  ["qqqqzzzz apple", "Apple", "one of several words"],
  ["aubergine", "Eggplant", "an alternate name"],
  ["Crème Honey", "Honey", "words with accents and capitals"]
])("food index: %j finds %s first, by %s", (term, name) => {
  expect(names(term)[0]).toBe(name)
})
