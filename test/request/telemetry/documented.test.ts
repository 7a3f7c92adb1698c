import { describe, expect } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { read } from "../../support/documents/blocks.js"
import { test } from "../../support/doubles/arranged.js"
import { type Measured, snapshot } from "../../support/doubles/metrics.js"
import { settings } from "../../support/doubles/simulatedAdvisor.js"

/** The client with a shared token and all layers that wrap it, so that it has every metric. */
const advisorWithAllLayers = Throttle.layer({}).pipe(
  Layer.provide(RequestRetry.layer({})),
  Layer.provide(SearchCache.layer({ timeToLive: "1 minute" })),
  Layer.provide(NutritionAdvisor.layerShared(settings)),
  Layer.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
)

/** The metrics of a program after one search, with the values of their labels. */
const measured = Effect.zipRight(NutritionAdvisor.search("oats"), snapshot).pipe(Effect.provide(advisorWithAllLayers))

const rowOf = ({ labels, name, type }: Measured) => `${name}{${Object.keys(labels).sort().join()}} ${type}`

const documented = Array.from(
  read("docs/telemetry.md").matchAll(/^\| `(nutrition_advisor_\w+)(?:\{(.*?)\})?` \| (\w+) \|/gm),
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
    const dashboard = read("ops/dashboard.json")
    expect(names.filter((name) => !dashboard.includes(name))).toEqual([])
  })
})

const selectorsIn = (text: string) =>
  Array.from(
    text.matchAll(/(nutrition_advisor_\w+?)(?:_bucket)?(?:\{(.*?)\})?(?=[\s[)*])/g),
    ([, metric = "", labels = ""]) => ({
      metric,
      labels: Array.from(labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g), ([, name = "", values = ""]) => ({
        name,
        values: values.split("|")
      })).filter(({ name }) => name !== "job")
    })
  )

/** Outcomes of the user's own bugs: they are counted only once there is one. */
const unforeseen = ["Defect"]

test.each(["alerts.yml", "dashboard.json"])(
  "ops/%s: each expression uses existing metrics and labels",
  function*(file) {
    const all = yield* measured
    const selectors = selectorsIn(
      read(`ops/${file}`).replaceAll("\\\"", "\"").replace(/"description":.*|description: [^]*?(?=- alert|$)/g, "")
    )
    expect(selectors.length).toBeGreaterThan(9)
    const missing = selectors.flatMap(({ labels, metric }) => {
      const known = all.filter(({ name }) => name === metric)
      if (known.length === 0) return [metric]
      return labels.flatMap(({ name, values }) =>
        values.filter((value) => !unforeseen.includes(value) && !known.some(({ labels }) => labels[name] === value))
          .map((value) => `${metric}{${name}="${value}"}`)
      )
    })
    expect(missing).toEqual([])
  }
)
