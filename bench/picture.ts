/** One table of RESULTS.md, drawn for README: what CPU a search costs with this library, and with others that people use. */
import { BarChart } from "echarts/charts"
import { GridComponent, TitleComponent } from "echarts/components"
import { init, use } from "echarts/core"
import { SVGRenderer } from "echarts/renderers"
import type { Table } from "./table.js"

use([BarChart, GridComponent, SVGRenderer, TitleComponent])

/** Those that are drawn, with the names that readers know. The others are measured to find out where time goes. */
export const names: Readonly<Record<string, string>> = {
  "ours-fibers": "this library, in fibers",
  "ours-runPromise": "this library, by runPromise",
  "undici.request": "undici, no token to renew",
  "hand-written": "hand-written over undici",
  "stock-undici": "Effect's HttpClient, no token to renew",
  azure: "Azure core-rest-pipeline",
  "google-auth": "google-auth-library",
  "axios-auth-refresh": "axios with axios-auth-refresh",
  got: "got",
  ky: "ky"
}

export const level = "64 concurrent"

const width = 860

const left = 280

const top = 48

const row = 28

const ink = "currentColor"

/** The background is its own: a page can be light where the reader's system is dark. */
const style = "<style>:root{color:#1f2328;background:#fff}" +
  "@media(prefers-color-scheme:dark){:root{color:#e6edf3;background:#0d1117}}</style>"

/** From the least to the most. */
const figuresOf = ({ columns, rows }: Table) =>
  rows.flatMap((cells) => {
    const name = names[cells[0] ?? ""]
    const isOurs = cells[0]?.startsWith("ours") === true
    return name === undefined ? [] : [{ name, isOurs, micros: Number(cells[columns.indexOf("CPU µs")]) }]
  }).sort((a, b) => a.micros - b.micros)

export const pictureOf = (tables: ReadonlyArray<Table>): string => {
  const table = tables.find(({ title }) => title === level)
  if (table === undefined) throw new Error(`RESULTS.md has no table "${level}"`)
  const figures = figuresOf(table)
  const height = top + figures.length * row + 12
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height })
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif" },
    title: {
      text: "CPU time of one search, 64 at once: microseconds, less is better",
      left: 16,
      top: 14,
      padding: 0,
      textStyle: { color: ink, fontSize: 15 }
    },
    grid: { left, top, width: width - left - 80, height: figures.length * row },
    xAxis: { type: "value", show: false },
    yAxis: {
      type: "category",
      inverse: true,
      data: figures.map(({ isOurs, name }) => ({
        value: name,
        textStyle: { fontWeight: isOurs ? "bold" : "normal" }
      })),
      axisLabel: { interval: 0, color: ink, fontSize: 13 },
      axisLine: { show: false },
      axisTick: { show: false }
    },
    series: [{
      type: "bar",
      barWidth: 16,
      silent: true,
      data: figures.map(({ isOurs, micros }) => ({
        value: micros,
        itemStyle: { color: isOurs ? "#4c8dd6" : "#8b949e" },
        label: { show: true, position: "right", color: ink, fontSize: 13, formatter: String(Math.round(micros)) }
      }))
    }]
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg.replace(">", `>${style}`)
}
