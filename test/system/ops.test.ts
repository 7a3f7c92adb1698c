import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Effect, Layer } from "effect"
import { NutritionAdvisor, RequestRetry, SearchCache, SharedTokenCache, Throttle } from "effect-nutrition-advisor"
import { Simulator } from "effect-nutrition-advisor/testing"
import { describe, expect, it } from "vitest"
import { snapshot } from "../doubles/metrics.js"

const repository = new URL("../..", import.meta.url)

const read = (path: string) => readFileSync(new URL(path, repository), "utf8")

const promtool = (...args: ReadonlyArray<string>) =>
  spawnSync("promtool", args, { cwd: new URL("ops", repository), encoding: "utf8" })

const isMissing = promtool("--version").error !== undefined

if (isMissing) {
  if (process.env.REQUIRE_PROMTOOL === "1") throw new Error("REQUIRE_PROMTOOL=1, and there is no promtool")
  console.log("promtool is missing: the rules of ops/ are not tested (apt-get install prometheus)")
}

describe.skipIf(isMissing)("ops/alerts.yml", () => {
  it.each([["check", "alerts.yml"], ["test", "alerts.test.yml"]])(
    "is right, says promtool %s rules",
    (command, file) => {
      const { status, stderr, stdout } = promtool(command, "rules", file)
      expect({ status, output: `${stdout}${stderr}` }).toEqual({
        status: 0,
        output: expect.stringContaining("SUCCESS")
      })
    }
  )
})

const alerts = Array.from(read("ops/alerts.yml").matchAll(/- alert: (\w+)$/gm), ([, name]) => name)

it("each alert has an hour in ops/alerts.test.yml in which it fires", () => {
  const fired = Array.from(read("ops/alerts.test.yml").matchAll(/alertname="(\w+)"/g), ([, name]) => name)
  expect(new Set(fired)).toEqual(new Set(alerts))
})

it("each alert leads to what to do about it", () => {
  const urls = Array.from(read("ops/alerts.yml").matchAll(/runbook_url: (\S+)$/gm), ([, url]) => url)
  const sections = Array.from(
    read("docs/telemetry.md").matchAll(/^### (\w+)$/gm),
    ([, name = ""]) => `docs/telemetry.md#${name.toLowerCase()}`
  )
  expect(urls.length).toBe(alerts.length)
  expect(urls.filter((url) => !sections.some((section) => section === url))).toEqual([])
})

/** What a program counts from the start, one search later: each metric with the values of its labels. */
const counted = Effect.gen(function*() {
  yield* NutritionAdvisor.search("oats")
  return yield* snapshot
}).pipe(
  Effect.provide(
    Throttle.layer({}).pipe(
      Layer.provide(RequestRetry.layer({})),
      Layer.provide(SearchCache.layer({ timeToLive: "1 minute" })),
      Layer.provide(
        NutritionAdvisor.layerShared({ baseUrl: Simulator.baseUrl, licenseKey: Simulator.licenseKey })
      ),
      Layer.provide([Simulator.layerHttpClient(), SharedTokenCache.layerMemory])
    )
  )
)

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

/** Ends of a user's own bugs, which are not counted before there is one. */
const unforeseen = ["Defect"]

it.each(["alerts.yml", "dashboard.json"])("each expression of ops/%s names what is counted", async (file) => {
  const all = await Effect.runPromise(counted)
  const selectors = selectorsIn(read(`ops/${file}`).replaceAll("\\\"", "\"").replace(/description:.*/g, ""))
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
})
