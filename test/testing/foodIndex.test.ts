import { describe, expect, it } from "@effect/vitest"
import { foodIndex } from "../../src/testing/foodIndex.js"
import { foods } from "../../src/testing/foods.js"
import { cpuMillisOf } from "../doubles/cpu.js"

type Food = (typeof foods)[number]

const index = foodIndex(foods)

const names = (term: string) => index.search(term).results.map(({ name }) => name)

const tagged = (tag: string) => foods.filter((food) => food.tags.includes(tag)).map(({ id }) => id)

describe("foods", () => {
  it("holds at least 120 foods", () => {
    expect(foods.length).toBeGreaterThanOrEqual(120)
  })

  it("gives every food an id of its own", () => {
    expect(new Set(foods.map(({ id }) => id)).size).toBe(foods.length)
  })

  it("gives every food a name of its own", () => {
    expect(new Set(foods.map(({ name }) => name.toLowerCase())).size).toBe(foods.length)
  })

  const animal = ["Meat", "Fish", "Eggs", "Dairy"]

  it.each<readonly [title: string, isWrong: (food: Food) => boolean]>([
    [
      "writes every id in lower case letters, digits and single hyphens",
      ({ id }) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id)
    ],
    ["states no tag of a food twice", ({ tags }) => new Set(tags).size !== tags.length],
    ["states energy that follows from protein, carbohydrate and fat, alcohol excepted", ({ per100g, tags }) => {
      const { carbohydrateG, energyKcal, fatG, fiberG, proteinG } = per100g
      const most = 4 * proteinG + 4 * carbohydrateG + 9 * fatG
      const least = most - 4 * fiberG
      const tolerance = Math.max(25, 0.2 * energyKcal)
      return !tags.includes("alcohol") && (energyKcal > most + tolerance || energyKcal < least - tolerance)
    }],
    [
      "states no more sugar and no more fiber than carbohydrate",
      ({ per100g }) => Math.max(per100g.sugarG, per100g.fiberG) > per100g.carbohydrateG
    ],
    [
      "states sugar and fiber that add up to carbohydrate at most, within a gram of measuring error",
      ({ per100g }) => per100g.sugarG + per100g.fiberG > per100g.carbohydrateG + 1
    ],
    [
      "states protein, carbohydrate and fat that weigh 100 g at most",
      ({ per100g }) => per100g.proteinG + per100g.carbohydrateG + per100g.fatG > 100
    ],
    ["states no negative figure", ({ per100g }) => Object.values(per100g).some((figure) => figure < 0)],
    ["states a portion that weighs something", ({ portion }) => portion.grams <= 0 || portion.name === ""],
    [
      "tags no meat, fish, egg or dairy as vegan",
      ({ category, tags }) => animal.includes(category) && tags.includes("vegan")
    ]
  ])("%s", (_, isWrong) => {
    expect(foods.filter(isWrong)).toEqual([])
  })

  it.each<readonly [tag: string, what: string, isSo: (per100g: Food["per100g"]) => boolean]>([
    ["low sugar", "at most 5 g of sugar", ({ sugarG }) => sugarG <= 5],
    ["high protein", "at least 15 g of protein", ({ proteinG }) => proteinG >= 15],
    ["high fiber", "at least 6 g of fiber", ({ fiberG }) => fiberG >= 6],
    ["low fat", "at most 3 g of fat", ({ fatG }) => fatG <= 3]
  ])("tags as %s exactly the foods with %s", (tag, _, isSo) => {
    expect(tagged(tag)).toEqual(foods.filter(({ per100g }) => isSo(per100g)).map(({ id }) => id))
  })
})

describe("foodIndex", () => {
  it.each([
    ["greek yogurt", "Greek yogurt, plain", "its name"],
    ["pinea", "Pineapple", "the beginning of its name"],
    ["qqqqzzzz apple", "Apple", "some words, where no food matches all"],
    ["bannana", "Banana", "a typing error"],
    ["chiken brest", "Chicken breast, roasted", "two typing errors"],
    ["aubergine", "Eggplant", "another name"],
    ["porridge", "Oatmeal, cooked with water", "another name"],
    ["strawberry", "Strawberries", "one, where it is called by many"],
    ["bananas", "Banana", "many, where it is called by one"],
    ["tomatoes", "Tomato", "many, where it is called by one"]
  ])("finds for %j first %s, by %s", (term, name) => {
    expect(names(term)[0]).toBe(name)
  })

  it("finds yogurts first for the British spelling", () => {
    expect(names("yoghurt").slice(0, 4).every((name) => /yogurt/i.test(name))).toBe(true)
  })

  it("finds oats among the first three for \"low sugar breakfast\"", () => {
    expect(names("low sugar breakfast").slice(0, 3)).toContain("Oats, rolled")
  })

  it("finds only foods that are low in sugar for \"low sugar\"", () => {
    expect(index.search("low sugar").results.filter(({ per100g }) => per100g.sugarG > 5)).toEqual([])
  })

  it("finds foods high in fiber for the British spelling", () => {
    const { results } = index.search("high fibre")
    expect(results.length > 0 && results.every(({ per100g }) => per100g.fiberG >= 6)).toBe(true)
  })

  it("finds the same with and without diacritics", () => {
    expect(names("knackebrod")).toEqual(names("knäckebröd"))
  })

  it("finds the same in upper and in lower case", () => {
    expect(names("GREEK YOGURT")).toEqual(names("greek yogurt"))
  })

  it.each(["qqqqzzzz", "🍎🍌", "", "   ", "---", "the"])("finds nothing for %j", (term) => {
    expect(index.search(term)).toEqual({ results: [], alternateNames: [] })
  })

  it.each([
    ["one long word", "a".repeat(100_000)],
    ["many words", "apple ".repeat(16_667)],
    ["many spaces", `low${" ".repeat(100_000)}`],
    ["many emoji", "🍎".repeat(50_000)]
  ])("costs less than a second of CPU for a term of 100,000 characters, as %s", (_, term) => {
    expect(cpuMillisOf(() => index.search(term))).toBeLessThan(1_000)
  })

  it("considers only the first sixteen words of a term", () => {
    expect(names(`${"qqqqzzzz ".repeat(16)}apple`)).toEqual([])
  })

  it("finds at most twenty foods", () => {
    expect(names("low sugar").length).toBe(20)
  })

  it("orders results by falling score", () => {
    const scores = index.search("vegan dinner").results.map(({ score }) => score)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
  })

  it("rounds scores to three decimals", () => {
    const { results } = index.search("vegan dinner")
    expect(results.filter(({ score }) => score !== Number(score.toFixed(3)))).toEqual([])
  })

  it("answers in plain JSON", () => {
    const answer = index.search("greek yogurt")
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
  })

  it("states the figures and portion of the food found", () => {
    const banana = foods.find(({ id }) => id === "banana")
    expect(index.search("banana").results[0]).toMatchObject({
      id: "banana",
      category: "Fruit",
      per100g: banana?.per100g,
      portion: banana?.portion
    })
  })

  it("names the best hits otherwise", () => {
    expect(index.search("eggplant").alternateNames).toContain("aubergine")
  })

  it("leaves the name asked for out of the alternate names", () => {
    expect(index.search("Aubergine").alternateNames).toEqual(["brinjal"])
  })

  it("finds only the foods it was built with", () => {
    expect(foodIndex([]).search("banana").results).toEqual([])
  })
})
