import { describe, expect, it } from "@effect/vitest"
import { foodIndex } from "../../src/testing/foodIndex.js"
import { foods } from "../../src/testing/foods.js"

const search = foodIndex(foods)

const names = (term: string) => search(term).results.map(({ name }) => name)

describe("food index", () => {
  it.each([
    ["greek yogurt", "Greek yogurt, plain", "its name"],
    ["yogurt", "Yogurt, plain", "one word of it"],
    ["oats", "Oats, rolled", "the singular of a word"],
    ["apple", "Apple", "the whole of it, before a pie"],
    ["pinea", "Pineapple", "the beginning of a word"],
    ["qqqqzzzz apple", "Apple", "some words, where no food matches all"],
    ["aubergine", "Eggplant", "another name"],
    ["strawberry", "Strawberries", "one, where it is called by many"],
    ["Crème Honey", "Honey", "words in any case"]
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

  it("food index: at most twenty foods, best first, with alternate names of the best", () => {
    const { alternateNames, results } = search("a vegan breakfast snack")
    expect(results.length).toBeLessThanOrEqual(20)
    expect(results.map(({ score }) => score)).toEqual(results.map(({ score }) => score).sort((a, b) => b - a))
    expect(search("eggplant").alternateNames).toEqual(["aubergine", "brinjal"])
    expect(alternateNames).toEqual([...new Set(alternateNames)])
  })
})
