import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { maxRetryAfterMillis } from "../../src/internal/errors/retry.js"
import { read, repository } from "../support/documents/blocks.js"
import * as Program from "./Program.js"

it.skipIf(Program.isMissing("promtool", "REQUIRE_PROMTOOL"))(
  "ops/alerts.yml: promtool accepts the rules, and its tests pass",
  () => {
    const { status, stderr, stdout } = spawnSync("promtool", ["test", "rules", "alerts.test.yml"], {
      cwd: join(repository, "ops"),
      encoding: "utf8"
    })
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") })
  }
)

const alerts = Array.from(read("ops/alerts.yml").matchAll(/- alert: (\w+)$/gm), ([, name]) => name)

it("ops/alerts.test.yml: each alert fires in at least one test", () => {
  const fired = Array.from(read("ops/alerts.test.yml").matchAll(/alertname="(\w+)"/g), ([, name]) => name)
  expect(new Set(fired)).toEqual(new Set(alerts))
})

it("ops/alerts.yml: each alert has a description with numbered steps and no link", () => {
  const rules = read("ops/alerts.yml").split("- alert: ").slice(1)
  const wrong = rules.filter((rule) => {
    const [, description = ""] = rule.split("description: |-\n")
    const numbers = Array.from(description.matchAll(/^ {12}(\d)\. \S/gm), ([, step]) => Number(step))
    return numbers.length < 2 || numbers.some((number, index) => number !== index + 1)
  })
  expect(wrong.map((rule) => rule.slice(0, rule.indexOf("\n")))).toEqual([])
  expect(read("ops/alerts.yml")).not.toMatch(/runbook_url|https?:|\]\(/)
})

it("ops/alerts.yml: ExchangesFail names the longest wait between two exchanges", () => {
  const [, rule = ""] = read("ops/alerts.yml").split("- alert: NutritionAdvisorExchangesFail")
  expect(maxRetryAfterMillis).toBe(60 * 60 * 1000)
  expect(rule.split("- alert:")[0]).toContain("or for the Retry-After of the response, up to an hour")
})

it("docs/telemetry.md: the table lists each alert with its severity, in the order of ops/alerts.yml", () => {
  const rows = read("docs/telemetry.md").matchAll(/^\| `(NutritionAdvisor\w+)` \| (\w+) \|/gm)
  const severities = read("ops/alerts.yml").matchAll(/severity: (\w+)$/gm)
  const expected = Array.from(severities, ([, severity], index) => [alerts[index], severity])
  expect(Array.from(rows, ([, ...row]) => row)).toEqual(expected)
})

interface Panel {
  readonly title: string
  readonly type: string
  readonly description?: string
  readonly gridPos: { readonly y: number }
  readonly fieldConfig: {
    readonly defaults: { readonly noValue?: string; readonly thresholds?: { readonly steps: ReadonlyArray<unknown> } }
  }
}

const panels: ReadonlyArray<Panel> = JSON.parse(read("ops/dashboard.json")).panels

it("ops/dashboard.json: the first row has only stat panels, each with thresholds", () => {
  const first = panels.filter(({ gridPos }) => gridPos.y === 0)
  const isVerdict = ({ fieldConfig, type }: Panel) =>
    type === "stat" && (fieldConfig.defaults.thresholds?.steps.length ?? 0) > 1
  expect(first.length).toBeGreaterThan(3)
  expect(first.filter((panel) => !isVerdict(panel)).map(({ title }) => title)).toEqual([])
})

it("ops/dashboard.json: each panel has a description that says why it can be empty", () => {
  const wrong = panels.filter(({ description, fieldConfig }) => !description || !fieldConfig.defaults.noValue)
  expect(wrong.map(({ title }) => title)).toEqual([])
})
