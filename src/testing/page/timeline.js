/** The timeline: a row for each kind of call, and the bars of the tokens. */
import {
  calls,
  clock,
  draw,
  exchanges,
  find,
  kindOf,
  minute,
  names,
  set,
  span,
  timeShown,
  tokens,
  view
} from "./seen.js"

const side = 7
const column = side + 1
const stack = 5
const facesOfCell = 5

/** From the top down: the line that the marks of each row stand on. */
export const rows = { token: 76, bar: 112, good: 250, refused: 298, failed: 346, none: 394 }
const namesOfRows = { good: "2xx", refused: "3xx 4xx", failed: "5xx", none: "no answer" }
const bar = { height: 13, rows: 4, atMost: 120 }
/** The names of rows stand left of what they name, those of lanes above it. */
const gutter = 76
const lanes = [
  { name: "Exchanges", top: 24, end: 76 },
  { name: "Tokens", top: 112, end: 172 },
  { name: "Searches and requests, by status", top: 206, end: 394 }
]

const rowOf = ({ operation, status }) => {
  if (operation === "token") return "token"
  if (typeof status === "string") return "none"
  return status < 300 ? "good" : status < 500 ? "refused" : "failed"
}

const labelOf = ({ calls: [call], count }) => {
  const fault = call.fault === null ? "" : `, fault ${call.fault}`
  return `${count > 1 ? `${count} × ` : ""}${names[call.operation]}, status ${call.status}${fault}, ${clock(call.at)}`
}

/** Each call is a mark. Where there are more than fit, those of a kind are one. */
const marksOf = ({ calls, counts, total }) => {
  if (total <= stack) return calls.map((call) => ({ kind: kindOf(call), calls: [call], count: 1, places: 1 }))
  const callsOf = (kind) => calls.filter((call) => kindOf(call) === kind)
  const places = stack / Object.keys(counts).length
  return Object.entries(counts).map(([kind, count]) => ({ kind, calls: callsOf(kind), count, places }))
}

export const svg = find("#timeline")
const axis = draw(svg, "g", {})
const moving = draw(svg, "g", {})
const [bars, gaps, points] = ["tokens", "gaps", "calls"].map(() => draw(moving, "g", {}))
const labels = draw(svg, "g", {})
/** What was called in a row and a column. */
const cells = new Map()
export const marks = new Map()
const changed = new Set()
let [width, millis, base] = [0, 1, 0]
let current

const columnOf = (at) => Math.floor(at / (millis * column)) - base
const placeOf = (at) => at / millis - base * column
const nowPlace = () => width * 0.92
const start = () => timeShown() - view.minutes * minute

export const addCall = (call) => {
  const [row, place, kind] = [rowOf(call), columnOf(call.at), kindOf(call)]
  const key = `${row} ${place}`
  if (!cells.has(key)) cells.set(key, { row, place, calls: [], counts: {}, total: 0, marks: [] })
  const cell = cells.get(key)
  cell.total += 1
  cell.counts[kind] = (cell.counts[kind] ?? 0) + 1
  if (cell.counts[kind] <= facesOfCell) cell.calls.push(call)
  changed.add(cell)
}

const addMark = (parent) => draw(parent, "rect", { role: "button", tabindex: "-1", rx: 2 })

const removeMark = (mark) => {
  if (mark === document.activeElement) svg.focus()
  marks.delete(mark)
  mark.remove()
}

const drawCell = (cell) => {
  const shown = marksOf(cell)
  while (cell.marks.length > shown.length) removeMark(cell.marks.pop())
  while (cell.marks.length < shown.length) cell.marks.push(addMark(points))
  const x = cell.place * column
  let y = rows[cell.row]
  shown.forEach((what, index) => {
    const height = what.places * column - 1
    const width = cell.row === "token" ? Math.max(side, what.calls[0].duration / millis) : side
    y -= height + 1
    set(cell.marks[index], { x, y, width, height, class: `mark ${what.kind}`, "aria-label": labelOf(what) })
    marks.set(cell.marks[index], { ...what, row: cell.row, x, y })
  })
}

const drawTokens = () => {
  const endOf = ({ cutAt, expiresAt }) => Math.min(cutAt ?? Infinity, expiresAt)
  const [from, until] = [placeOf(start()), placeOf(timeShown()) + width]
  const inView = tokens.filter((token) => endOf(token) > start())
  const visible = new Set(inView.slice(-bar.atMost))
  for (const [mark, { token }] of marks) if (token !== undefined && !visible.has(token)) removeMark(mark)
  for (const part of bars.querySelectorAll(".cap, .number")) part.remove()
  for (const token of visible) {
    const y = rows.bar + (token.token % bar.rows) * (bar.height + 2)
    const x = Math.max(placeOf(token.receivedAt), from - column)
    const width = Math.max(3, Math.min(placeOf(endOf(token)), until) - x)
    const end = token.cutAt === undefined ? `ends at ${clock(token.expiresAt)}` : `revoked at ${clock(token.cutAt)}`
    if (!token.mark?.isConnected) token.mark = addMark(bars)
    set(token.mark, { x, y, width, height: bar.height, class: "mark bar" })
    set(token.mark, { "aria-label": `token ${token.token}, received at ${clock(token.receivedAt)}, ${end}` })
    marks.set(token.mark, { token, row: "bar", x, y })
    const cap = { class: "cap", x: x + width - 4, y, width: 4, height: bar.height }
    if (token.cutAt !== undefined) draw(bars, "rect", cap)
    const number = `#${token.token}`
    const room = x + width - Math.max(x, from)
    if (room > 10 + 8 * number.length) {
      draw(bars, "text", { class: "number", x: Math.max(x, from) + 4, y: y + 10 }, number)
    }
  }
}

/** From each exchange to the next, where there is room to say it. */
const drawGaps = () => {
  gaps.replaceChildren()
  const inView = exchanges.filter((call) => call.at > start())
  inView.slice(1).forEach(({ at }, index) => {
    const [from, to] = [placeOf(inView[index].at), placeOf(at)]
    const place = { x: (from + to + side) / 2, y: rows.token - 3, "text-anchor": "middle" }
    if (to - from >= 56) draw(gaps, "text", place, span(at - inView[index].at))
  })
}

const drawAxis = () => {
  axis.replaceChildren()
  labels.replaceChildren()
  draw(labels, "rect", { class: "gutter", width: gutter - 1, height: 430 })
  for (const { name, top } of lanes) draw(labels, "text", { class: "lane", x: 0, y: top - 8 }, name)
  for (const [row, y] of Object.entries(rows)) {
    if (row !== "bar") draw(axis, "line", { x1: gutter, x2: width, y1: y + 0.5, y2: y + 0.5 })
    draw(labels, "text", { x: 0, y: y + 4 }, namesOfRows[row])
  }
  const steps = width < 700 ? 2 : 5
  for (let step = 0; step <= steps; step++) {
    const ago = view.minutes * minute * (steps - step) / steps
    const x = nowPlace() - ago / millis
    const text = { x, "text-anchor": step === 0 ? "start" : width < 700 && ago === 0 ? "end" : "middle" }
    for (const { end, top } of lanes) {
      draw(axis, "line", { class: ago === 0 ? "now" : "", x1: x, x2: x, y1: top, y2: end })
    }
    const said = ago >= minute ? `${ago / minute} min ago` : ago > 0 ? `${ago / 1_000} s ago` : "now"
    draw(labels, "text", { ...text, y: 411 }, said)
    draw(labels, "text", { ...text, y: 426, "data-ago": ago })
  }
}

export const rebuild = () => {
  width = svg.clientWidth
  millis = view.minutes * minute / (nowPlace() - gutter)
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
  drawGaps()
  for (const text of labels.querySelectorAll("[data-ago]")) text.textContent = clock(timeShown() - text.dataset.ago)
  moving.setAttribute("transform", `translate(${(nowPlace() - placeOf(timeShown())).toFixed(1)} 0)`)
  if (!marks.has(current)) stopAt([...marks.keys()].at(-1))
}

/** Tab comes to one mark, from where the arrow keys go on. */
export const stopAt = (mark) => {
  if (current !== undefined) set(current, { tabindex: "-1" })
  if (mark !== undefined) set(mark, { tabindex: "0" })
  current = mark
}

export const inRow = (row) =>
  [...marks].filter(([, mark]) => mark.row === row).sort(([, one], [, other]) => one.x - other.x || other.y - one.y)
    .map(([mark]) => mark)

/** The nearest mark of the first row of these that has one. */
export const nearestTo = ({ x }, rows) => {
  const distance = (mark) => Math.abs(marks.get(mark).x - x)
  return rows.map(inRow).find((row) => row.length > 0)?.sort((one, other) => distance(one) - distance(other))[0]
}
