import { readFileSync } from "node:fs"
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { NutritionAdvisor } from "effect-nutrition-advisor"
import { test } from "../../support/doubles/arranged.js"
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
  test("docs/telemetry.md has a row for each metric, with its labels and its type", function*() {
    expect(distinct(documented)).toEqual(distinct((yield* own).map(rowOf)))
  })

  test("ops/dashboard.json has a panel for each metric", function*() {
    const names = distinct((yield* own).map(({ name }) => name))
    const dashboard = readFileSync("ops/dashboard.json", "utf8")
    expect(names.filter((name) => !dashboard.includes(name))).toEqual([])
  })
})
