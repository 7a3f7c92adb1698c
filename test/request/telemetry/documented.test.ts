import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { type Measured, snapshot } from "../../support/doubles/metrics.js"
import { settings } from "../../support/doubles/simulatedAdvisor.js"

/** A client with all layers around it. */
const client = Throttle.layer({}).pipe(
  Layer.provide(RequestRetry.layer({})),
  Layer.provide(SearchCache.layer({ timeToLive: "1 minute" })),
  Layer.provide(NutritionAdvisor.layerShared(settings)),
  Layer.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
)

const measured = Effect.zipRight(NutritionAdvisor.search("oats"), snapshot).pipe(Effect.provide(client))

const selectorOf = ({ labels, name }: Measured) => {
  const names = Object.keys(labels).sort().join()
  return names === "" ? name : `${name}{${names}}`
}

const documented = Array.from(
  readFileSync("docs/telemetry.md", "utf8").matchAll(/^\| `(nutrition_advisor_\w+)(?:\{(.*?)\})?` \| (\w+) \|/gm),
  ([, name = "", labels = "", type = "other"]) => {
    const labelNames = labels.split(",").filter((label) => label !== "")
    return { name, type, labels: Object.fromEntries(labelNames.map((label) => [label, ""])) } as Measured
  }
)

const distinct = (all: ReadonlyArray<string>) => [...new Set(all)].sort()

const own = Effect.map(measured, (all) => all.filter(({ name }) => name.startsWith("nutrition_advisor_")))

describe("metrics", () => {
  it.effect("docs/telemetry.md has a row for each metric, with its labels", () =>
    Effect.map(own, (all) => {
      expect(distinct(documented.map(selectorOf))).toEqual(distinct(all.map(selectorOf)))
    }))

  it.effect("docs/telemetry.md states the type of each metric", () =>
    Effect.map(own, (all) => {
      const typed = ({ name, type }: Measured) => `${name} ${type}`
      expect(distinct(documented.map(typed))).toEqual(distinct(all.map(typed)))
    }))

  it.effect("ops/dashboard.json has a panel for each metric", () =>
    Effect.map(own, (all) => {
      const dashboard = readFileSync("ops/dashboard.json", "utf8")
      expect(distinct(all.map(({ name }) => name)).filter((name) => !dashboard.includes(name))).toEqual([])
    }))
})
