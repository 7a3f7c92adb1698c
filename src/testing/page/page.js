/** What the simulator saw, from its stream of events to a timeline, a table and counters. */
const find = (selector) => document.querySelector(selector)
const minute = 60_000
/** The longest view, and what a browser bears at a thousand calls a second. */
const remembered = { time: 15 * minute, calls: 100_000, tokens: 2_000 }
const rowsOfTable = 300
const view = { minutes: 5 }

/** While the picture is held: the moment that it shows, and what came since. */
let held
const timeShown = () => held?.at ?? Date.now()

// What was seen
const calls = []
const tokens = []
const exchanges = []
let [lastId, lastInTable, askedAt, hasNews, lostAt] = [0, 0, 0, true]

const kindOf = ({ fault, status }) => fault !== null ? "fault" : status >= 200 && status < 300 ? "own" : "wrong"

const seeCall = (call) => {
  calls.push(call)
  if (call.operation === "token") exchanges.push(call)
  if (!document.hidden) addCall(call)
}

/** The numbers begin anew with a simulator that is started again, which accepts no earlier token. */
const seeToken = (token) => {
  const isRestart = token.token <= (tokens.at(-1)?.token ?? 0)
  if (isRestart) { for (const earlier of tokens) earlier.cutAt ??= lostAt ?? token.receivedAt }
  tokens.push(token)
}

const seeRevocation = ({ at, revoked }) => {
  const numbers = new Set(revoked)
  for (const token of tokens.toReversed()) if (numbers.delete(token.token)) token.cutAt ??= at
}

const see = (event) =>
  "operation" in event ? seeCall(event) : "revoked" in event ? seeRevocation(event) : seeToken(event)

const receive = ({ data }) => {
  const event = JSON.parse(data)
  if (event.id <= lastId) return
  lastId = event.id
  hasNews = true
  if (held === undefined) see(event)
  else if (held.later.push(event) > remembered.calls) held.later.shift()
}

const forget = (now) => {
  const firstRecent = calls.findIndex(({ at }) => at > now - remembered.time)
  calls.splice(0, Math.max(firstRecent === -1 ? calls.length : firstRecent, calls.length - remembered.calls))
  for (const seen of [tokens, exchanges]) seen.splice(0, Math.max(0, seen.length - remembered.tokens))
}

// How it is said
const clock = (at) => new Date(at).toTimeString().slice(0, 8)
const clockToMillis = (at) => `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`
const units = [["h", 60 * minute], ["min", minute], ["s", 1_000], ["ms", 0]]

const span = (millis) => {
  const [unit, length] = units.find(([, length]) => millis >= length) ?? ["ms", 0]
  return length === 0 ? `${Math.round(millis)} ms` : `${(millis / length).toFixed(1)} ${unit}`
}

const names = { token: "exchange", search: "search", request: "request" }
const factsOf = (call) => [
  ["time", clockToMillis(call.at)],
  ["operation", names[call.operation]],
  ["route", `${call.method} ${call.route}`],
  ["status", String(call.status)],
  ["duration", span(call.duration)],
  ["token", call.token === null ? "none" : `#${call.token}`],
  ["fault", call.fault ?? "none"]
]

const factsOfToken = ({ cutAt, expiresAt, receivedAt, token }) => [
  ["token", `#${token}`],
  ["received", clockToMillis(receivedAt)],
  ["lifetime", span(expiresAt - receivedAt)],
  cutAt === undefined ? ["end", clockToMillis(expiresAt)] : ["revoked", clockToMillis(cutAt)]
]

const element = (name, ...children) => {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

const set = (target, attributes) => {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value)
  return target
}

/** A shape of the drawing, or its text. */
const draw = (parent, name, attributes, text = "") => {
  const shape = set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes)
  shape.textContent = text
  parent.append(shape)
  return shape
}

// The timeline
const side = 7
const column = side + 1
const stack = 5
const facesOfCell = 5

/** From the top down: the line that the marks of each row stand on. */
const rows = { token: 76, bar: 112, good: 250, refused: 298, failed: 346, none: 394 }
const namesOfRows = { good: "2xx", refused: "3xx 4xx", failed: "5xx", none: "no answer" }
const bar = { height: 13, rows: 4, atMost: 120 }

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

const svg = find("#timeline")
const axis = draw(svg, "g", {})
const moving = draw(svg, "g", {})
const [bars, gaps, points] = ["tokens", "gaps", "calls"].map(() => draw(moving, "g", {}))
const labels = draw(svg, "g", {})
/** What was called in a row and a column. */
const cells = new Map()
const marks = new Map()
const changed = new Set()
let [width, millis, base] = [0, 1, 0]
let current

const columnOf = (at) => Math.floor(at / (millis * column)) - base
const placeOf = (at) => at / millis - base * column
const nowPlace = () => width * 0.92
const start = () => timeShown() - view.minutes * minute

const addCall = (call) => {
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
    if (width > 28) draw(bars, "text", { class: "number", x: Math.max(x, from) + 4, y: y + 10 }, `#${token.token}`)
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
  const lanes = [["Exchanges", 16], ["Tokens", 104], ["Searches and requests, by status", 198]]
  for (const [name, y] of lanes) draw(axis, "text", { class: "lane", x: 0, y }, name)
  for (const [row, y] of Object.entries(rows)) {
    if (row !== "bar") draw(axis, "line", { x1: 0, x2: width, y1: y + 0.5, y2: y + 0.5 })
    draw(labels, "text", { class: "row", x: 0, y: y - 4 }, namesOfRows[row])
  }
  const steps = width < 700 ? 2 : 5
  for (let step = 0; step <= steps; step++) {
    const ago = view.minutes * minute * (steps - step) / steps
    const x = nowPlace() - ago / millis
    const text = { x, "text-anchor": step === 0 ? "start" : width < 700 && ago === 0 ? "end" : "middle" }
    draw(axis, "line", { class: ago === 0 ? "now" : "", x1: x, x2: x, y1: 24, y2: 396 })
    const said = ago >= minute ? `${ago / minute} min ago` : ago > 0 ? `${ago / 1_000} s ago` : "now"
    draw(axis, "text", { ...text, y: 411 }, said)
    draw(axis, "text", { ...text, y: 426, "data-ago": ago })
  }
}

const rebuild = () => {
  width = svg.clientWidth
  millis = view.minutes * minute / nowPlace()
  base = Math.floor(timeShown() / (millis * column))
  for (const mark of [...marks.keys()]) removeMark(mark)
  cells.clear()
  changed.clear()
  drawAxis()
  for (const call of calls) if (call.at > start()) addCall(call)
  redraw()
}

const redraw = () => {
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
  for (const text of axis.querySelectorAll("[data-ago]")) text.textContent = clock(timeShown() - text.dataset.ago)
  moving.setAttribute("transform", `translate(${(nowPlace() - placeOf(timeShown())).toFixed(1)} 0)`)
  if (!marks.has(current)) stopAt([...marks.keys()].at(-1))
}

/** Tab comes to one mark, from where the arrow keys go on. */
const stopAt = (mark) => {
  if (current !== undefined) set(current, { tabindex: "-1" })
  if (mark !== undefined) set(mark, { tabindex: "0" })
  current = mark
}

const inRow = (row) =>
  [...marks].filter(([, mark]) => mark.row === row).sort(([, one], [, other]) => one.x - other.x || other.y - one.y)
    .map(([mark]) => mark)

/** The nearest mark of the first row of these that has one. */
const nearestTo = ({ x }, rows) => {
  const distance = (mark) => Math.abs(marks.get(mark).x - x)
  return rows.map(inRow).find((row) => row.length > 0)?.sort((one, other) => distance(one) - distance(other))[0]
}

svg.addEventListener("keydown", (event) => {
  const mark = event.target
  if (!marks.has(mark)) return
  const [at, names] = [marks.get(mark), Object.keys(rows)]
  const row = inRow(at.row)
  const goals = {
    ArrowLeft: () => row[row.indexOf(mark) - 1],
    ArrowRight: () => row[row.indexOf(mark) + 1],
    ArrowUp: () => nearestTo(at, names.slice(0, names.indexOf(at.row)).reverse()),
    ArrowDown: () => nearestTo(at, names.slice(names.indexOf(at.row) + 1)),
    Home: () => row[0],
    End: () => row.at(-1),
    Enter: () => showPicked(at),
    " ": () => showPicked(at)
  }
  if (!Object.hasOwn(goals, event.key)) return
  event.preventDefault()
  goals[event.key]()?.focus()
})
svg.addEventListener("focusin", ({ target }) => {
  if (!marks.has(target)) return
  stopAt(target)
  showPicked(marks.get(target))
})
svg.addEventListener("click", ({ target }) => marks.has(target) && target.focus())
addEventListener("resize", rebuild)

// What is shown beside it
const listOf = (facts) =>
  element("dl", ...facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))))

const showPicked = ({ calls: picked, count, token }) => {
  const ago = (at) => ["ago", span(Date.now() - at)]
  const show = (...shown) => find("#picked").replaceChildren(...shown)
  if (token !== undefined) return show(listOf([...factsOfToken(token), ago(token.receivedAt)]))
  const [first] = picked
  const before = exchanges.findLast(({ id }) => first.operation === "token" && id < first.id)
  const since = before === undefined ? [] : [["since the one before", span(first.at - before.at)]]
  const heading = count > picked.length ? `${count} calls, the first ${picked.length}:` : `${count} calls:`
  const lists = picked.map((call) => listOf([...factsOf(call), ago(call.at), ...(call === first ? since : [])]))
  return count > 1 ? show(element("p", heading), ...lists) : show(...lists)
}

const showTable = () => {
  const body = find("tbody")
  const fresh = calls.slice(-rowsOfTable).filter((call) => call.id > lastInTable)
  for (const call of fresh) {
    const cells = factsOf(call).map(([, value]) => element("td", value))
    body.prepend(set(element("tr", ...cells), { class: `call ${kindOf(call)}` }))
  }
  lastInTable = fresh.at(-1)?.id ?? lastInTable
  while (body.rows.length > rowsOfTable) body.lastElementChild.remove()
  find("caption").textContent = `The newest ${body.rows.length} calls of ${calls.length}`
}

const showCounters = (counters) => {
  for (const shown of document.querySelectorAll("[data-counter]")) shown.textContent = counters[shown.dataset.counter]
}

const tick = async () => {
  const now = Date.now()
  if (held === undefined) forget(now)
  if (held !== undefined || document.hidden) return
  redraw()
  find("#empty").hidden = calls.length > 0
  if (!find("#calls").hidden) showTable()
  if (!hasNews || now - askedAt < 1_000) return
  hasNews = false
  askedAt = now
  const response = await fetch("counters").catch(() => undefined)
  if (response?.ok) showCounters(await response.json())
}

// The controls
const settings = JSON.parse(find("#settings").textContent)

const toggle = (button, then) =>
  button.addEventListener("click", () => {
    const isPressed = button.getAttribute("aria-pressed") !== "true"
    set(button, { "aria-pressed": isPressed })
    then(isPressed)
  })

toggle(find("#pause"), (isPressed) => {
  held?.later.forEach(see)
  held = isPressed ? { at: Date.now(), later: [] } : undefined
  rebuild()
})

toggle(find("#table-toggle"), (isPressed) => {
  find("#calls").hidden = !isPressed
  if (isPressed) showTable()
})

for (const choice of document.querySelectorAll("[name=minutes]")) {
  choice.addEventListener("change", () => {
    view.minutes = Number(choice.value)
    rebuild()
  })
}

const order = async (path, done) => {
  const response = await fetch(path, { method: "POST" }).catch(() => undefined)
  const body = await response?.json().catch(() => undefined)
  const refusal = `Not done: ${body?.error ?? "the simulator does not answer"}.`
  find("#said").textContent = response?.ok ? `${clock(Date.now())}: ${done}` : refusal
  if (response?.ok) showCounters(body)
}

find("#revoke").addEventListener("click", () => order("revoke", "all tokens are revoked."))
find("#recover").addEventListener("click", () => order("recover", "no fault is left."))

const showFaults = () =>
  find("#fault").replaceChildren(...settings.faults[find("#operation").value].map((name) => element("option", name)))

showFaults()
find("#operation").addEventListener("change", showFaults)

find("#provocation").addEventListener("submit", (event) => {
  event.preventDefault()
  const [operation, fault, times] = ["#operation", "#fault", "#times"].map((name) => find(name).value)
  const which = times === "" ? `each ${operation} call` : `${operation} calls, the next ${times},`
  order(`provoke/${operation}/${fault}${times === "" ? "" : `?times=${times}`}`, `${which} will meet ${fault}.`)
})

/** A number takes effect at Enter, or a moment after it was typed. */
const whenTyped = (input, value, path) => {
  let timer
  input.value = value
  const tell = () => {
    clearTimeout(timer)
    if (input.value === "" || input.value === String(value) || !input.reportValidity()) return
    value = input.value
    order(path + value, `${input.labels[0].textContent.trim()}: ${value}.`)
  }
  input.addEventListener("change", tell)
  input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(tell, 800)
  })
}

whenTyped(find("#lifetime"), settings.tokenLifetime, "token-lifetime?seconds=")
for (const [operation, millis] of Object.entries(settings.latency)) {
  whenTyped(find(`#latency-${operation}`), millis, `latency/${operation}?millis=`)
}

const baseUrl = location.href.replace(/\/simulator\/.*$/, "")
const isLoopback = /^(localhost|127\.|\[::1\])/.test(location.hostname)
const variables = [
  `NUTRITION_ADVISOR_BASE_URL=${baseUrl}`,
  ...(isLoopback ? [] : ["NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP=true"]),
  "NUTRITION_ADVISOR_LICENSE_KEY="
].join("\n")
find("[data-base-url]").textContent = baseUrl
find("#variables").textContent = variables

find("#copy").addEventListener("click", async () => {
  getSelection().selectAllChildren(find("#variables"))
  await navigator.clipboard?.writeText(variables).catch(() => undefined)
  find("#said").textContent = "The settings are copied, and selected. Add the key."
})

// The stream
const connect = () => {
  const stream = new EventSource("events")
  const say = (text) => find("#connection").textContent = text
  stream.addEventListener("open", () => say("Live"))
  stream.addEventListener("message", receive)
  stream.addEventListener("error", () => {
    lostAt = Date.now()
    say("No connection. Trying again…")
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2_000)
  })
}

document.addEventListener("visibilitychange", () => document.hidden || rebuild())
rebuild()
connect()
setInterval(tick, 250)
tick()
