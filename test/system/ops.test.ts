import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const read = (path: string) => readFileSync(`${root}/ops/${path}`, "utf8")

const promtool = (...args: ReadonlyArray<string>) =>
  spawnSync("promtool", args, { cwd: `${root}/ops`, encoding: "utf8" })

const isMissing = promtool("--version").error !== undefined

if (isMissing) {
  if (process.env.REQUIRE_PROMTOOL === "1") throw new Error("REQUIRE_PROMTOOL=1, and there is no promtool")
  console.log("promtool is missing: the rules of ops/ are not tested (apt-get install prometheus)")
}

describe.skipIf(isMissing)("ops/alerts.yml", () => {
  it("holds rules that Prometheus takes", () => {
    expect(promtool("check", "rules", "alerts.yml")).toMatchObject({ status: 0 })
  })

  it("fires each alert for what it is about, and none while all is well", () => {
    const { status, stderr, stdout } = promtool("test", "rules", "alerts.test.yml")
    expect({ status, output: `${stdout}${stderr}` }).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") })
  })

  it("has a test that sees each alert fire", () => {
    const alerts = Array.from(read("alerts.yml").matchAll(/alert: (\w+)/g), ([, name]) => name)
    const fired = Array.from(read("alerts.test.yml").matchAll(/alertname: (\w+)\n +exp_alerts:/g), ([, name]) => name)
    expect(new Set(fired)).toEqual(new Set(alerts))
  })
})

/** The lines of a process of its own that has served one search. */
const scrape = async () => {
  const child = spawn(process.execPath, ["--import", "tsx", "examples/service.ts"], {
    cwd: root,
    env: { ...process.env, PORT: "0" }
  })
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
  "alerts.yml": read("alerts.yml").split(/- alert: /).slice(1).map((rule) =>
    /expr:([\s\S]*?)\n +for:/.exec(rule)?.[1] ?? ""
  ),
  "dashboard.json": Array.from(
    read("dashboard.json").matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g),
    ([, text = ""]) => text.replaceAll("\\\"", "\"")
  )
}

describe.each(Object.entries(expressions))("each expression of ops/%s", (_, all) => {
  let series: ReadonlyArray<{ readonly metric: string; readonly labels: ReadonlyMap<string, string> }> = []

  beforeAll(async () => {
    series = Array.from(
      (await scrape()).matchAll(/^(nutrition_advisor_\w+)(?:\{(.*)\})? /gm),
      ([, metric = "", labels = ""]) => ({
        metric,
        labels: new Map(Array.from(labels.matchAll(/(\w+)="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]))
      })
    )
  }, 60_000)

  it("is read", () => {
    expect(all.length).toBeGreaterThan(6)
    expect(all.every((expression) => selectorsIn(expression).length > 0)).toBe(true)
  })

  it("names metrics, labels and values that are in a scrape of examples/service.ts", () => {
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

  it("groups by labels that its metrics have in that scrape", () => {
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
