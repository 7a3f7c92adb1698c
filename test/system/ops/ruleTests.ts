/** The file for `promtool test rules`: what each scenario would have shown Prometheus, and which alerts must fire. */
import { stringify } from "yaml"
import type { Alerts } from "./scenarios.js"
import { minutes, type Series } from "./series.js"

export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Recorded {
  readonly name: string
  readonly series: Series
  readonly alerts: Alerts
}

const metricOf = (series: string) => series.split("{")[0] ?? ""

const isFlat = (values: ReadonlyArray<number | undefined>) =>
  values.every((value) => value === 0 || value === undefined)

/** Of the series that stay at zero one for each metric, where no other shows that it is there. */
const shown = (series: Series, rules: ReadonlyArray<Rule>) => {
  const named = [...series].filter(([name]) => rules.some(({ expr }) => expr.includes(metricOf(name)))).sort()
  const kept = named.filter(([, values]) => !isFlat(values))
  const standing = named.filter(([, values]) => values.includes(0))
  const seen = new Set(kept.map(([name]) => metricOf(name)))
  return [...kept, ...standing.filter(([name]) => !seen.has(metricOf(name)) && seen.add(metricOf(name)))]
}

/** A label that the text names and the alert has not is a mistake. */
const rendered = (text: string, labels: Readonly<Record<string, string>>) =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => {
    const value = labels[label]
    if (value === undefined) throw new Error(`no label ${label}`)
    return value
  })

const expected = (rule: Rule, ofThis: Readonly<Record<string, string>>) => {
  const labels = {
    job: "foods",
    ...(/\b(by|on) \(job, instance\b/.test(rule.expr) ? { instance: "a" } : {}),
    ...ofThis,
    ...rule.labels
  }
  return {
    exp_labels: labels,
    exp_annotations: Object.fromEntries(
      Object.entries(rule.annotations).map(([name, text]) => [name, rendered(text, labels)])
    )
  }
}

const testOf = ({ alerts, name, series }: Recorded, rules: ReadonlyArray<Rule>) => ({
  name,
  interval: "1m",
  input_series: shown(series, rules).map(([name, values]) => ({
    series: name,
    values: values.map((value) => value ?? "_").join(" ")
  })),
  alert_rule_test: rules.filter(({ alert }) => alert in alerts).map((rule) => ({
    eval_time: `${minutes}m`,
    alertname: rule.alert,
    exp_alerts: (alerts[rule.alert] ?? []).map((labels) => expected(rule, labels))
  })),
  promql_expr_test: [{
    expr: `group by (alertname) (last_over_time(ALERTS{alertstate="firing"}[${minutes}m]))`,
    eval_time: `${minutes}m`,
    exp_samples: Object.keys(alerts).sort().map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }))
  }]
})

export const ruleTests = (recorded: ReadonlyArray<Recorded>, rules: ReadonlyArray<Rule>) =>
  stringify({
    rule_files: ["alerts.yml"],
    evaluation_interval: "1m",
    tests: recorded.map((one) => testOf(one, rules))
  }, { lineWidth: 0, aliasDuplicateObjects: false })
