import { expect, it } from "@effect/vitest"
import { foodIndex } from "../../src/testing/simulator/foodIndex.js"
import { foods } from "../../src/testing/simulator/foods.js"

const search = foodIndex(foods)

const names = (term: string) => search(term).results.map(({ name }) => name)

it.each([
  ["greek yogurt", "Greek yogurt, plain", "its name"],
  ["yogurt", "Yogurt, plain", "one word of its name"],
  ["apples", "Apple", "the plural of its name"],
  ["apple", "Apple", "its whole name"],
  ["pinea", "Pineapple", "the beginning of a word"],
  ["qqqqzzzz apple", "Apple", "one of several words"],
  ["aubergine", "Eggplant", "an alternate name"],
  ["strawberry", "Strawberries", "the singular of its name"],
  ["Crème Honey", "Honey", "words with accents and capitals"]
])("food index: %j finds %s first, by %s", (term, name) => {
  expect(names(term)[0]).toBe(name)
})

it("food index: a food is found by its tags and its category", () => {
  expect(names("vegan breakfast")).toContain("Oats, rolled")
  expect(names("fish")).toEqual(expect.arrayContaining(["Salmon, cooked", "Shrimp, cooked"]))
})

it("food index: an unknown word finds nothing", () => {
  expect(search("qqqqzzzz")).toEqual({ results: [], alternateNames: [] })
})

it("food index: a search finds at most twenty foods, best first", () => {
  const { alternateNames, results } = search("a vegan breakfast snack")
  expect(results.length).toBeLessThanOrEqual(20)
  expect(results.map(({ score }) => score)).toEqual(results.map(({ score }) => score).sort((a, b) => b - a))
  expect(search("eggplant").alternateNames).toEqual(["aubergine", "brinjal"])
  expect(alternateNames).toEqual([...new Set(alternateNames)])
})
