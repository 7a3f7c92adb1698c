/** The timeline: a row for each kind of call, and the bars of the tokens. */
import { calls, clock, draw, find, kindOf, minute, names, set, timeShown, tokens, view } from "./seen.js"

const side = 7
const column = side + 1
const stack = 5

/** The rows from top to bottom: the baseline of their marks, and their names. */
const rows = {
  token: { y: 76, name: "" },
  good: { y: 250, name: "2xx" },
  refused: { y: 298, name: "3xx 4xx" },
  failed: { y: 346, name: "5xx" },
  none: { y: 394, name: "no response" }
}
const bar = { height: 13, y: 112, rows: 4, atMost: 120 }
/** The space for the names of rows, to the left of them. The names of lanes are above them. */
const gutter = 84
const lanes = [
  { name: "Exchanges", top: 24, end: 76 },
  { name: "Tokens", top: 112, end: 172 },
  { name: "Searches and requests, by status", top: 206, end: 394 }
]

const rowOf = ({ operation, status }) => {
  if (operation === "token") return "token"
  if (typeof status === "string") return "none"
  if (status < 300) return "good"
  return status < 500 ? "refused" : "failed"
}

const labelOf = ([call, ...more]) => {
  const fault = call.fault === null ? "" : `, fault ${call.fault}`
  const count = more.length > 0 ? `${1 + more.length} × ` : ""
  return `${count}${names[call.operation]}, status ${call.status}${fault}, ${clock(call.at)}`
}

export const svg = find("#timeline")
for (const { name, top } of lanes) draw(svg, "text", { class: "lane", x: 0, y: top - 8 }, name)
for (const { name, y } of Object.values(rows)) draw(svg, "text", { x: 0, y: y + 4 }, name)
/** Clips everything beyond its edges. */
const plot = draw(svg, "svg", { x: gutter })
const axis = draw(plot, "g", {})
const moving = draw(plot, "g", {})
const bars = draw(moving, "g", {})
const points = draw(moving, "g", {})
/** The calls in each row and column. */
const cells = new Map()
/** The calls or the token of each mark. */
export const marks = new Map()
const changed = new Set()
let width = 0
/** The milliseconds of a pixel. */
let millis = 1
/** The column at which the drawing starts. */
let base = 0

const columnOf = (at) => Math.floor(at / (millis * column)) - base
const placeOf = (at) => at / millis - base * column
const nowPlace = () => width * 0.92
const start = () => timeShown() - view.minutes * minute

export const addCall = (call) => {
  const row = rowOf(call)
  const place = columnOf(call.at)
  const key = `${row} ${place}`
  if (!cells.has(key)) cells.set(key, { row, place, calls: [], marks: [] })
  cells.get(key).calls.push(call)
  changed.add(cells.get(key))
}

const addMark = (parent) => draw(parent, "rect", { role: "button", tabindex: "-1", rx: 2 })

const removeMark = (mark) => {
  if (mark === document.activeElement) svg.focus()
  marks.delete(mark)
  mark.remove()
}

/** Each call is a mark. If there are more calls than fit, calls of a kind share one mark. */
const drawCell = ({ calls, marks: drawn, place, row }) => {
  const fits = calls.length <= stack
  const shown = fits ? calls.map((call) => [call]) : Object.values(Object.groupBy(calls, kindOf))
  while (drawn.length > shown.length) removeMark(drawn.pop())
  while (drawn.length < shown.length) drawn.push(addMark(points))
  const height = (fits ? 1 : stack / shown.length) * column - 1
  shown.forEach((calls, index) => {
    const x = place * column
    const y = rows[row].y - (index + 1) * (height + 1)
    const width = row === "token" ? Math.max(side, calls[0].duration / millis) : side
    set(drawn[index], { x, y, width, height, class: `mark ${kindOf(calls[0])}`, "aria-label": labelOf(calls) })
    marks.set(drawn[index], { calls })
  })
}

const drawTokens = () => {
  const endOf = ({ cutAt, expiresAt }) => Math.min(cutAt ?? Infinity, expiresAt)
  const from = placeOf(start())
  const until = placeOf(timeShown()) + width
  const visible = new Set(tokens.filter((token) => endOf(token) > start()).slice(-bar.atMost))
  for (const [mark, { token }] of marks) if (token !== undefined && !visible.has(token)) removeMark(mark)
  for (const part of bars.querySelectorAll(".cap, .number")) part.remove()
  for (const token of visible) {
    const y = bar.y + (token.token % bar.rows) * (bar.height + 2)
    const x = Math.max(placeOf(token.receivedAt), from - column)
    const width = Math.max(3, Math.min(placeOf(endOf(token)), until) - x)
    const end = token.cutAt === undefined ? `ends at ${clock(token.expiresAt)}` : `revoked at ${clock(token.cutAt)}`
    if (!token.mark?.isConnected) token.mark = addMark(bars)
    set(token.mark, { x, y, width, height: bar.height, class: "mark bar" })
    set(token.mark, { "aria-label": `token ${token.token}, received at ${clock(token.receivedAt)}, ${end}` })
    marks.set(token.mark, { token })
    if (token.cutAt !== undefined) {
      draw(bars, "rect", { class: "cap", x: x + width - 4, y, width: 4, height: bar.height })
    }
    const number = `#${token.token}`
    const left = Math.max(x, from) + 4
    if (x + width - left > 6 + 8 * number.length) draw(bars, "text", { class: "number", x: left, y: y + 10 }, number)
  }
}

const isNarrow = () => width < 600

/** The leftmost name starts at its line. On a narrow screen, "now" ends at it, because there is no room to the right. */
const anchorOf = (step, ago) => {
  if (step === 0) return "start"
  return isNarrow() && ago === 0 ? "end" : "middle"
}

const nameOf = (ago) => {
  if (ago === 0) return "now"
  return ago >= minute ? `${ago / minute} min ago` : `${ago / 1_000} s ago`
}

const drawAxis = () => {
  axis.replaceChildren()
  for (const { y } of Object.values(rows)) draw(axis, "line", { x1: 0, x2: width, y1: y + 0.5, y2: y + 0.5 })
  const steps = isNarrow() ? 2 : 5
  for (let step = 0; step <= steps; step++) {
    const ago = view.minutes * minute * (steps - step) / steps
    const x = nowPlace() - ago / millis
    const text = { x, "text-anchor": anchorOf(step, ago) }
    for (const { end, top } of lanes) {
      draw(axis, "line", { class: ago === 0 ? "now" : "", x1: x, x2: x, y1: top, y2: end })
    }
    draw(axis, "text", { ...text, y: 411 }, nameOf(ago))
    draw(axis, "text", { ...text, y: 426, "data-ago": ago })
  }
}

export const rebuild = () => {
  width = svg.clientWidth - gutter
  millis = view.minutes * minute / nowPlace()
  base = Math.floor(timeShown() / (millis * column))
  for (const mark of [...marks.keys()]) removeMark(mark)
  cells.clear()
  changed.clear()
  drawAxis()
  for (const call of calls) if (call.at > start()) addCall(call)
  redraw()
}

export const redraw = () => {
  changed.forEach(drawCell)
  changed.clear()
  const first = columnOf(start()) - 1
  for (const [key, cell] of cells) {
    if (cell.place >= first) continue
    cell.marks.forEach(removeMark)
    cells.delete(key)
  }
  drawTokens()
  for (const text of axis.querySelectorAll("[data-ago]")) text.textContent = clock(timeShown() - text.dataset.ago)
  moving.setAttribute("transform", `translate(${(nowPlace() - placeOf(timeShown())).toFixed(1)} 0)`)
}
