import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { type Measured, snapshot } from "../../support/doubles/metrics.js"
import { advisorWithAllLayers } from "../../support/doubles/simulatedAdvisor.js"

const measured = Effect.zipRight(NutritionAdvisor.search("oats"), snapshot).pipe(Effect.provide(advisorWithAllLayers))

const rowOf = ({ labels, name, type }: Measured) => `${name}{${Object.keys(labels).sort().join()}} ${type}`

const documented = Array.from(
  readFileSync("docs/telemetry.md", "utf8").matchAll(/^\| `(nutrition_advisor_\w+)(?:\{(.*?)\})?` \| (\w+) \|/gm),
  ([, name, labels = "", type]) => `${name}{${labels.split(",").sort().join()}} ${type}`
)

const distinct = (all: ReadonlyArray<string>) => [...new Set(all)].sort()

const own = Effect.map(measured, (all) => all.filter(({ name }) => name.startsWith("nutrition_advisor_")))

describe("metrics", () => {
  it.effect("docs/telemetry.md has a row for each metric, with its labels and its type", () =>
    Effect.map(own, (all) => {
      expect(distinct(documented)).toEqual(distinct(all.map(rowOf)))
    }))

  it.effect("ops/dashboard.json has a panel for each metric", () =>
    Effect.map(own, (all) => {
      const dashboard = readFileSync("ops/dashboard.json", "utf8")
      expect(distinct(all.map(({ name }) => name)).filter((name) => !dashboard.includes(name))).toEqual([])
    }))
})
