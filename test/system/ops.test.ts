import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Arbitrary, FastCheck } from "effect"
import { NutritionAdvisorError } from "effect-nutrition-advisor"
import { beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { type Recorded, type Rule, ruleTests } from "./ops/ruleTests.js"
import { allFail, works } from "./ops/scenarios.js"
import { recorded, standing } from "./ops/series.js"
import * as Program from "./Program.js"

const read = (path: string) => readFileSync(`${Program.repository}/ops/${path}`, "utf8")

const promtool = (...args: ReadonlyArray<string>) =>
  spawnSync("promtool", args, { cwd: `${Program.repository}/ops`, encoding: "utf8" })

const isMissing = promtool("--version").error !== undefined

if (isMissing) {
  if (process.env.REQUIRE_PROMTOOL === "1") throw new Error("REQUIRE_PROMTOOL=1, and there is no promtool")
  console.log("promtool is missing: the rules of ops/ are not tested (apt-get install prometheus)")
}

const rules: ReadonlyArray<Rule> = parse(read("alerts.yml")).groups[0].rules

const scenarios = { ...allFail, ...works }

const recordings: Array<Recorded> = []

beforeAll(async () => {
  const start = await standing(Object.values(scenarios))
  for (const [name, scenario] of Object.entries(scenarios)) {
    recordings.push({ name, series: await recorded(scenario, start), alerts: scenario.alerts })
  }
}, 300_000)

describe("ops/alerts.test.yml", () => {
  it("holds what the library counts while all searches fail, and while they work", async () => {
    const written = "# Written by `npx vitest run test/system/ops.test.ts -u`; run it once more then.\n"
    await expect(written + ruleTests(recordings, rules)).toMatchFileSnapshot(
      `${Program.repository}/ops/alerts.test.yml`
    )
  })

  it("has an alert for each way in which all searches can fail, and a way for each alert", () => {
    const silent = Object.entries(allFail).filter(([, { alerts }]) => Object.keys(alerts).length === 0)
    expect(silent.map(([name]) => name)).toEqual([])
    const fired = Object.values(scenarios).flatMap(({ alerts }) => Object.keys(alerts))
    expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)))
  })

  it("calls the key rejected for the errors of an exchange that do not pass, and no other", () => {
    const sample = FastCheck.sample(Arbitrary.make(NutritionAdvisorError.NutritionAdvisorError), {
      numRuns: 500,
      seed: 1
    })
    const tags = sample.filter(NutritionAdvisorError.isTransient)
    const listed = rules.flatMap(({ expr }) => Array.from(expr.matchAll(/error[=!]~"([^"]*)"/g), ([, list]) => list))
    expect(new Set(listed)).toEqual(new Set([["Defect", ...new Set(tags.map(({ _tag }) => _tag))].sort().join("|")]))
  })

  it("has each error among those ways that a fault of the simulator brings about", () => {
    const named = JSON.stringify(Object.values(allFail).map(({ alerts }) => alerts))
    const faults = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8")
    const missing = NutritionAdvisorError.errors.filter(({ _tag }) =>
      faults.includes(`\`${_tag}\``) && !named.includes(_tag)
    )
    expect(missing.map(({ _tag }) => _tag)).toEqual([])
  })
})

describe("each rule of ops/alerts.yml", () => {
  it.each(rules)("says in docs/alerts.md what to do about $alert", ({ annotations }) => {
    const [page, section] = annotations.runbook_url?.split("#") ?? []
    expect(page).toMatch(/(^|\/)docs\/alerts\.md$/)
    const headings = Array.from(
      read("../docs/alerts.md").matchAll(/^## (.*)$/gm),
      ([, heading = ""]) => heading.toLowerCase()
    )
    expect(headings).toContain(section)
  })
})

describe.skipIf(isMissing)("ops/alerts.yml", () => {
  it("holds rules that Prometheus takes", () => {
    expect(promtool("check", "rules", "alerts.yml")).toMatchObject({ status: 0 })
  })

  it("fires each alert for what it is about, and no other", () => {
    const { status, stderr, stdout } = promtool("test", "rules", "alerts.test.yml")
    expect({ status, output: `${stdout}${stderr}` }).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") })
  })
})

/** The lines of a process of its own that has served one search. */
const scrape = async () => {
  const { child } = Program.start("examples/service.ts", [], { PORT: "0" })
  try {
    const [line] = await once(child.stdout, "data")
    const address = /http:\S+/.exec(String(line))?.[0] ?? ""
    await (await fetch(`${address}/foods?term=apple`)).text()
    return await (await fetch(`${address}/metrics`)).text()
  } finally {
    child.kill("SIGKILL")
  }
}

/** Prometheus itself adds these to what it scrapes. */
const added = new Set(["job", "instance"])

const labelsIn = (text: string) =>
  Array.from(text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g), ([, name = "", operator = "", value = ""]) => ({
    name,
    values: operator === "=" || operator === "!=" ? [value] : value.split("|")
  })).filter(({ name }) => !added.has(name))

const selectorsIn = (expression: string) =>
  Array.from(expression.matchAll(/(nutrition_advisor_\w+)(?:\{([^}]*)\})?/g), ([, metric = "", labels = ""]) => ({
    metric,
    labels: labelsIn(labels)
  }))

const groupedBy = (expression: string) =>
  Array.from(expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g), ([, names = ""]) => names.split(/,\s*/)).flat()
    .filter((name) => !added.has(name))

const expressions = {
  "alerts.yml": rules.map(({ expr }) => expr),
  "dashboard.json": Array.from(
    read("dashboard.json").matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g),
    ([, text = ""]) => text.replaceAll("\\\"", "\"")
  )
}

describe.each(Object.entries(expressions))("each expression of ops/%s", (_, all) => {
  let series: ReadonlyArray<{ readonly metric: string; readonly labels: ReadonlyMap<string, string> }> = []

  beforeAll(async () => {
    series = Array.from(
      [await scrape(), ...recordings.flatMap(({ series }) => [...series.keys()].map((name) => `${name} `))].join("\n")
        .matchAll(/^(nutrition_advisor_\w+)(?:\{(.*)\})? /gm),
      ([, metric = "", labels = ""]) => ({
        metric,
        labels: new Map(Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]))
      })
    )
  })

  it("is read", () => {
    expect(all.length).toBeGreaterThan(6)
    expect(all.every((expression) => selectorsIn(expression).length > 0)).toBe(true)
  })

  it("names metrics, labels and values that are in a scrape of examples/service.ts, or in those recordings", () => {
    const missing = all.flatMap((expression) => selectorsIn(expression)).flatMap(({ labels, metric }) => {
      const known = series.filter((one) => one.metric === metric)
      if (known.length === 0) return [metric]
      return labels.flatMap(({ name, values }) =>
        values.filter((value) => !known.some(({ labels }) => labels.get(name) === value))
          .map((value) => `${metric}{${name}="${value}"}`)
      )
    })
    expect(missing).toEqual([])
  })

  it("groups by labels that its metrics have there", () => {
    const missing = all.flatMap((expression) => {
      const metrics = selectorsIn(expression).map(({ metric }) => metric)
      const known = new Set(
        series.filter(({ metric }) => metrics.includes(metric)).flatMap(({ labels }) => [...labels.keys()])
      )
      return groupedBy(expression).filter((name) => !known.has(name))
    })
    expect(missing).toEqual([])
  })
})
