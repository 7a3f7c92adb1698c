/** What the simulator saw, from its stream of events to a timeline, a table and counters. */
const find = (selector) => document.querySelector(selector)
const minute = 60_000

/** The longest view, and what a browser bears at a thousand calls a second. */
const remembered = { time: 15 * minute, calls: 100_000, tokens: 2_000 }
const rowsOfTable = 500
const view = { minutes: 5 }

/** While the picture is held: the moment that it shows, and the last event in it. */
let held
const timeShown = () => held?.at ?? Date.now()

// What was seen

const calls = []
const tokens = []
const exchanges = []
const routes = new Map()
let lastId = 0
let lostAt
let hasNews = true

const kindOf = ({ fault, status }) => fault !== null ? "fault" : status >= 200 && status < 300 ? "own" : "wrong"

/** One string for all calls of a route: each event brings a copy of its own. */
const sameRoute = (route) => {
  if (routes.size > 1_000) routes.clear()
  if (!routes.has(route)) routes.set(route, route)
  return routes.get(route)
}

const see = {
  call: (call) => {
    call.route = sameRoute(call.route)
    calls.push(call)
    if (call.operation === "token") exchanges.push(call)
    if (held === undefined && !document.hidden) timeline.add(call)
  },
  token: (token) => {
    const isRestart = token.token <= (tokens.at(-1)?.token ?? 0)
    if (isRestart) { for (const earlier of tokens) earlier.cutAt ??= lostAt ?? token.receivedAt }
    tokens.push(token)
  },
  revocation: ({ at, revoked }) => {
    const numbers = new Set(revoked)
    for (let index = tokens.length - 1; index >= 0 && numbers.size > 0; index--) {
      if (numbers.delete(tokens[index].token)) tokens[index].cutAt ??= at
    }
  }
}

const receive = ({ data }) => {
  const event = JSON.parse(data)
  if (event.id <= lastId) return
  lastId = event.id
  see["operation" in event ? "call" : "revoked" in event ? "revocation" : "token"](event)
  hasNews = true
}

const forget = (now) => {
  const firstRecent = calls.findIndex(({ at }) => at > now - remembered.time)
  calls.splice(0, Math.max(firstRecent === -1 ? calls.length : firstRecent, calls.length - remembered.calls))
  tokens.splice(0, Math.max(0, tokens.length - remembered.tokens))
  exchanges.splice(0, Math.max(0, exchanges.length - remembered.tokens))
}

// How it is said

const two = (number, digits = 2) => String(number).padStart(digits, "0")

const clock = (at) => new Date(at).toTimeString().slice(0, 8)

const clockToMillis = (at) => `${clock(at)}.${two(new Date(at).getMilliseconds(), 3)}`

const span = (millis) => {
  const [unit, length] = [["h", 60 * minute], ["min", minute], ["s", 1_000]].find(([, length]) => millis >= length) ??
    []
  return unit === undefined ? `${Math.round(millis)} ms` : `${(millis / length).toFixed(1)} ${unit}`
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
  cutAt === undefined
    ? ["end", clockToMillis(expiresAt)]
    : ["revoked", `${clockToMillis(cutAt)}, after ${span(cutAt - receivedAt)}`]
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
const facesOfCell = 20

/** From the top down: the line that the marks of a row stand on, and what it is called. */
const rows = {
  token: { y: 76, label: "" },
  bar: { y: 112, label: "" },
  good: { y: 250, label: "2xx" },
  refused: { y: 298, label: "3xx 4xx" },
  failed: { y: 346, label: "5xx" },
  none: { y: 394, label: "no answer" }
}
const rowNames = Object.keys(rows)
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
  return Object.entries(counts).map(([kind, count], _, kinds) => ({
    kind,
    calls: calls.filter((call) => kindOf(call) === kind),
    count,
    places: stack / kinds.length
  }))
}

const makeTimeline = (svg) => {
  const axis = draw(svg, "g", {})
  const moving = draw(svg, "g", {})
  const [bars, gaps, points] = [draw(moving, "g", {}), draw(moving, "g", {}), draw(moving, "g", {})]
  const labels = draw(svg, "g", {})
  /** What was called in a row and a column. */
  const cells = new Map()
  const marks = new Map()
  let changed = new Set()
  let width = 0
  let millis = 1
  let base = 0
  let current

  const columnOf = (at) => Math.floor(at / (millis * column)) - base
  const placeOf = (at) => at / millis - base * column
  const nowPlace = () => width * 0.92
  const start = () => timeShown() - view.minutes * minute

  const add = (call) => {
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
    let { y } = rows[cell.row]
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
    const visible = new Set(
      tokens.filter((token) => endOf(token) > start() && token.id <= (held?.id ?? Infinity)).slice(-bar.atMost)
    )
    for (const [mark, { token }] of marks) if (token !== undefined && !visible.has(token)) removeMark(mark)
    for (const part of bars.querySelectorAll(".cap, .number")) part.remove()
    for (const token of visible) {
      const y = rows.bar.y + (token.token % bar.rows) * (bar.height + 2)
      const x = Math.max(placeOf(token.receivedAt), from - column)
      const width = Math.max(3, Math.min(placeOf(endOf(token)), until) - x)
      const end = token.cutAt === undefined ? `ends at ${clock(token.expiresAt)}` : `revoked at ${clock(token.cutAt)}`
      if (!token.mark?.isConnected) token.mark = addMark(bars)
      set(token.mark, { x, y, width, height: bar.height, class: "mark bar" })
      set(token.mark, { "aria-label": `token ${token.token}, received at ${clock(token.receivedAt)}, ${end}` })
      marks.set(token.mark, { token, row: "bar", x, y })
      if (token.cutAt !== undefined) {
        draw(bars, "rect", { class: "cap", x: x + width - 4, y, width: 4, height: bar.height })
      }
      if (width > 28) draw(bars, "text", { class: "number", x: Math.max(x, from) + 4, y: y + 10 }, `#${token.token}`)
    }
  }

  /** From each exchange to the next, where there is room to say it. */
  const drawGaps = () => {
    gaps.replaceChildren()
    const inView = exchanges.filter(({ at, id }) => at > start() && id <= (held?.id ?? Infinity))
    inView.slice(1).forEach(({ at }, index) => {
      const [from, to] = [placeOf(inView[index].at), placeOf(at)]
      if (to - from < 56) return
      draw(
        gaps,
        "text",
        { x: (from + to + side) / 2, y: rows.token.y - 3, "text-anchor": "middle" },
        span(at - inView[index].at)
      )
    })
  }

  const drawAxis = () => {
    axis.replaceChildren()
    labels.replaceChildren()
    const lanes = [["Exchanges", 16], ["Tokens", 104], ["Searches and requests, by status", 198]]
    for (const [name, y] of lanes) draw(axis, "text", { class: "lane", x: 0, y }, name)
    for (const { label, y } of Object.values(rows)) {
      if (y !== rows.bar.y) draw(axis, "line", { x1: 0, x2: width, y1: y + 0.5, y2: y + 0.5 })
      draw(labels, "text", { class: "row", x: 0, y: y - 4 }, label)
    }
    const steps = width < 700 ? 2 : 5
    for (let step = 0; step <= steps; step++) {
      const ago = view.minutes * minute * (steps - step) / steps
      const x = nowPlace() - ago / millis
      const text = { x, "text-anchor": step === 0 ? "start" : "middle" }
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
    for (const call of calls) if (call.at > start() && call.id <= (held?.id ?? Infinity)) add(call)
    redraw()
  }

  const redraw = () => {
    changed.forEach(drawCell)
    changed = new Set()
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

  const inNextRow = ({ row, x }, by) => {
    for (let index = rowNames.indexOf(row) + by; rowNames[index] !== undefined; index += by) {
      const distance = (mark) => Math.abs(marks.get(mark).x - x)
      const nearest = inRow(rowNames[index]).sort((one, other) => distance(one) - distance(other))[0]
      if (nearest !== undefined) return nearest
    }
    return undefined
  }

  svg.addEventListener("keydown", (event) => {
    const mark = event.target
    if (!marks.has(mark)) return
    const row = inRow(marks.get(mark).row)
    const goals = {
      ArrowLeft: () => row[row.indexOf(mark) - 1],
      ArrowRight: () => row[row.indexOf(mark) + 1],
      ArrowUp: () => inNextRow(marks.get(mark), -1),
      ArrowDown: () => inNextRow(marks.get(mark), 1),
      Home: () => row[0],
      End: () => row.at(-1),
      Enter: () => showPicked(marks.get(mark)),
      " ": () => showPicked(marks.get(mark))
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

  return { add, rebuild, redraw }
}

// What is shown beside it

const listOf = (facts) =>
  element("dl", ...facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))))

const showPicked = ({ calls: picked, count, token }) => {
  const ago = (at) => ["ago", span(Date.now() - at)]
  if (token !== undefined) {
    return find("#picked").replaceChildren(listOf([...factsOfToken(token), ago(token.receivedAt)]))
  }
  const [first] = picked
  const before = exchanges.findLast(({ id }) => first.operation === "token" && id < first.id)
  const since = before === undefined ? [] : [["since the one before", span(first.at - before.at)]]
  const heading = count > picked.length ? `${count} calls, the first ${picked.length}:` : `${count} calls:`
  find("#picked").replaceChildren(
    ...(count > 1 ? [element("p", heading)] : []),
    ...picked.map((call) => listOf([...factsOf(call), ago(call.at), ...(call === first ? since : [])]))
  )
}

let lastInTable = 0

const showTable = () => {
  const body = find("tbody")
  const fresh = calls.slice(-rowsOfTable).filter(({ id }) => id > lastInTable && id <= (held?.id ?? Infinity))
  body.prepend(
    ...fresh.reverse().map((call) => {
      const cells = factsOf(call).map(([, value]) => element("td", value))
      return set(element("tr", ...cells), { class: `call ${kindOf(call)}` })
    })
  )
  lastInTable = fresh[0]?.id ?? lastInTable
  while (body.rows.length > rowsOfTable) body.lastElementChild.remove()
  find("caption").textContent = `The newest ${body.rows.length} calls of ${calls.length}`
}

const showCounters = (counters) => {
  for (const shown of document.querySelectorAll("[data-counter]")) shown.textContent = counters[shown.dataset.counter]
}

const timeline = makeTimeline(find("#timeline"))
let askedAt = 0

const tick = async () => {
  const now = Date.now()
  forget(now)
  if (held !== undefined || document.hidden) return
  timeline.redraw()
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
  held = isPressed ? { at: Date.now(), id: lastId } : undefined
  timeline.rebuild()
})

toggle(find("#table-toggle"), (isPressed) => {
  find("#calls").hidden = !isPressed
  if (isPressed) showTable()
})

for (const choice of document.querySelectorAll("[name=minutes]")) {
  choice.addEventListener("change", () => {
    view.minutes = Number(choice.value)
    timeline.rebuild()
  })
}

const order = async (path, done) => {
  const response = await fetch(path, { method: "POST" }).catch(() => undefined)
  const body = await response?.json().catch(() => undefined)
  const refusal = response === undefined
    ? "The simulator does not answer."
    : `Not done: ${body?.error ?? response.status}.`
  find("#said").textContent = response?.ok ? `${clock(Date.now())}: ${done}` : refusal
  if (response?.ok) showCounters(body)
}

find("#revoke").addEventListener("click", () => order("revoke", "all tokens are revoked."))
find("#recover").addEventListener("click", () => order("recover", "no fault is left."))

const showFaults = () =>
  find("#fault").replaceChildren(...settings.faults[find("#operation").value].map((name) => element("option", name)))

find("#operation").addEventListener("change", showFaults)
showFaults()

find("#provocation").addEventListener("submit", (event) => {
  event.preventDefault()
  const [operation, fault, times] = ["#operation", "#fault", "#times"].map((name) => find(name).value)
  const which = times === "" ? `each ${operation} call` : `${operation} calls, the next ${times},`
  order(`provoke/${operation}/${fault}${times === "" ? "" : `?times=${times}`}`, `${which} will meet ${fault}.`)
})

/** A number takes effect at Enter, or a moment after it was typed. */
const whenTyped = (input, value, then) => {
  let timer
  input.value = value
  const tell = () => {
    clearTimeout(timer)
    if (input.value === "" || input.value === String(value) || !input.reportValidity()) return
    value = input.value
    then(value)
  }
  input.addEventListener("change", tell)
  input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(tell, 800)
  })
}

whenTyped(
  find("#lifetime"),
  settings.tokenLifetime,
  (seconds) => order(`token-lifetime?seconds=${seconds}`, `the next tokens live ${seconds} s.`)
)
for (const input of document.querySelectorAll("[data-latency]")) {
  const { latency } = input.dataset
  whenTyped(
    input,
    settings.latency[latency],
    (millis) => order(`latency/${latency}?millis=${millis}`, `each ${latency} call waits ${millis} ms.`)
  )
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
  const say = (text, isLost) => {
    find("#connection").textContent = text
    find("#connection").classList.toggle("lost", isLost)
  }
  stream.addEventListener("open", () => say("Live", false))
  stream.addEventListener("message", receive)
  stream.addEventListener("error", () => {
    lostAt = Date.now()
    say("No connection. Trying again…", true)
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2_000)
  })
}

document.addEventListener("visibilitychange", () => document.hidden || timeline.rebuild())
timeline.rebuild()
connect()
setInterval(tick, 250)
tick()
