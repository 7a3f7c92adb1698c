/** The tables of RESULTS.md that most readers look for, drawn: what a search costs each client, and how long the storms take. */
import { BarChart, ScatterChart } from "echarts/charts"
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components"
import { init, use } from "echarts/core"
import { SVGRenderer } from "echarts/renderers"
import type { Table } from "./table.js"

use([BarChart, GridComponent, LegendComponent, ScatterChart, SVGRenderer, TitleComponent])

interface Panel {
  readonly title: string
  readonly clients: ReadonlyArray<string>
  readonly column: 0 | 1
  readonly top: number
  readonly axis: object
  readonly series: ReadonlyArray<object>
}

const width = 860

const margin = 24

const names = 200

const panelWidth = (width - names - 3 * margin) / 2

const row = 24

/** Of the longest bar, for what is written behind it. */
const roomForLabel = 2

const ink = "currentColor"

const faint = "#8b949e"

/** The background is its own: a page can be light where the reader's system is dark. */
const style = "<style>:root{color:#1f2328;background:#fff}" +
  "@media(prefers-color-scheme:dark){:root{color:#e6edf3;background:#0d1117}}</style>"

/** One for each level, a little apart so that equal figures show. */
const marks = [
  { color: "#4c8dd6", symbol: "circle", symbolOffset: [0, -6] },
  { color: "#d9822b", symbol: "rect", symbolOffset: [0, -2] },
  { color: "#2fa37c", symbol: "triangle", symbolOffset: [0, 2] },
  { color: "#b06fdc", symbol: "diamond", symbolOffset: [0, 6] }
]

const cellsOf = ({ columns, rows }: Table, column: string) =>
  rows.map((row) => [row[0] ?? "", row[columns.indexOf(column)] ?? ""] as const)

const figuresOf = (table: Table, column: string) =>
  cellsOf(table, column).map(([client, cell]) => [client, Number(cell)] as const)

/** Names from the least figure to the largest. */
const ranked = (table: Table, column: string) =>
  figuresOf(table, column).sort((a, b) => a[1] - b[1]).map(([client]) => client)

const figurePanels = (levels: ReadonlyArray<Table>, top: number): ReadonlyArray<Panel> => {
  const most = levels.reduce((most, level) => level.rows.length > most.rows.length ? level : most)
  const clients = ranked(most, "CPU µs")
  const panel = (column: 0 | 1, title: string, figure: string, axis: object): Panel => ({
    title,
    clients,
    column,
    top,
    axis,
    series: levels.map((level, index) => ({
      type: "scatter",
      name: level.title,
      symbolSize: 8,
      itemStyle: { opacity: 1 },
      silent: true,
      ...marks[index],
      data: figuresOf(level, figure).map(([client, value]) => [value, client])
    }))
  })
  return [
    panel(0, "CPU of one search, µs", "CPU µs", { type: "value" }),
    panel(1, "p99, ms", "p99 ms", { type: "log" })
  ]
}

const told = (ms: string, exchanges: string, failures: string) =>
  [
    `${ms} ms`,
    ...(exchanges === "1" ? [] : [`${exchanges} exchanges`]),
    ...(failures === "0" ? [] : [`${failures} failed`])
  ].join(", ")

const stormPanels = (storms: ReadonlyArray<Table>, top: number): ReadonlyArray<Panel> => {
  const clients = storms[0] === undefined ? [] : ranked(storms[0], "ms")
  const longest = Math.max(...storms.flatMap((storm) => figuresOf(storm, "ms").map(([, ms]) => ms)))
  return storms.map((storm, index) => {
    const exchanges = new Map(cellsOf(storm, "exchanges"))
    const failures = new Map(cellsOf(storm, "failures"))
    return {
      title: storm.title,
      clients,
      column: index === 0 ? 0 : 1,
      top,
      axis: { type: "value", show: false, max: longest * roomForLabel },
      series: [{
        type: "bar",
        barWidth: 10,
        silent: true,
        data: cellsOf(storm, "ms").map(([client, ms]) => ({
          value: [Number(ms), client],
          itemStyle: { color: failures.get(client) === "0" ? "#4c8dd6" : faint },
          label: {
            show: true,
            position: "right",
            color: ink,
            formatter: told(ms, exchanges.get(client) ?? "", failures.get(client) ?? "")
          }
        }))
      }]
    }
  })
}

const heightOf = ({ clients }: Panel) => clients.length * row

const placed = (panels: ReadonlyArray<Panel>) => ({
  title: panels.map(({ column, title, top }) => ({
    text: title,
    left: names + margin + column * (panelWidth + margin),
    top: top - 30,
    padding: 0,
    textStyle: { color: ink, fontSize: 14 }
  })),
  grid: panels.map((panel) => ({
    left: names + margin + panel.column * (panelWidth + margin),
    top: panel.top,
    width: panelWidth,
    height: heightOf(panel)
  })),
  yAxis: panels.map(({ clients, column }, gridIndex) => ({
    gridIndex,
    type: "category",
    inverse: true,
    data: clients.map((value) => ({ value, textStyle: { fontWeight: value.startsWith("ours") ? "bold" : "normal" } })),
    axisLabel: { show: column === 0, interval: 0, color: ink, fontSize: 13 },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: faint, opacity: 0.25 } }
  })),
  xAxis: panels.map(({ axis }, gridIndex) => ({
    gridIndex,
    ...axis,
    axisLabel: { color: ink, fontSize: 12, alignMinLabel: "left", alignMaxLabel: "right" },
    splitLine: { lineStyle: { color: faint, opacity: 0.4 } }
  })),
  series: panels.flatMap(({ series }, index) => series.map((one) => ({ ...one, xAxisIndex: index, yAxisIndex: index })))
})

export const pictureOf = (tables: ReadonlyArray<Table>): string => {
  const levels = tables.filter(({ title }) => /^\d+ concurrent$/.test(title))
  const storms = tables.filter(({ title }) => / searches at once, /.test(title))
  const figures = figurePanels(levels, 80)
  const bottom = Math.max(...figures.map((panel) => panel.top + heightOf(panel)))
  const panels = [...figures, ...stormPanels(storms, bottom + 76)]
  const height = Math.max(...panels.map((panel) => panel.top + heightOf(panel))) + 16
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height })
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif" },
    legend: {
      top: 12,
      left: names + margin,
      itemWidth: 10,
      itemHeight: 10,
      itemGap: 32,
      selectedMode: false,
      textStyle: { color: ink, fontSize: 13 }
    },
    ...placed(panels)
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg.replace(">", `>${style}`)
}
