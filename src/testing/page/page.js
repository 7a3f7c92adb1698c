/** The page: what its stream of events tells, what is picked, a table, counters and controls. */
import {
  calls,
  clock,
  element,
  exchanges,
  factsOf,
  factsOfToken,
  find,
  forget,
  kindOf,
  minute,
  remembered,
  see,
  set,
  span,
  view
} from "./seen.js"
import { addCall, marks, rebuild, redraw, svg } from "./timeline.js"

const rowsOfTable = 300
let [lastId, lastInTable, askedAt, hasNews] = [0, 0, 0, true]
/** Until somebody chooses how much is shown. */
let widens = true

const receive = ({ data }) => {
  const event = JSON.parse(data)
  if (event.id <= lastId) return
  lastId = event.id
  hasNews = true
  if (view.held === undefined) {
    see(event)
    if ("operation" in event) addCall(event)
  } else if (view.held.later.push(event) > remembered.calls) view.held.later.shift()
}

// The mark that is picked
const listOf = (facts) =>
  element("dl", ...facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))))

const showPicked = ({ calls, token }) => {
  const ago = (at) => ["ago", span(Date.now() - at)]
  const show = (...shown) => find("#picked").replaceChildren(...shown)
  if (token !== undefined) return show(listOf([...factsOfToken(token), ago(token.receivedAt)]))
  const [first] = calls
  const before = exchanges.findLast(({ id }) => first.operation === "token" && id < first.id)
  const since = before === undefined ? [] : [["since the one before", span(first.at - before.at)]]
  const lists = calls.slice(0, 5).map((call) =>
    listOf([...factsOf(call), ago(call.at), ...(call === first ? since : [])])
  )
  show(...(calls.length > 1 ? [element("p", `${calls.length} calls, the first ${lists.length}:`)] : []), ...lists)
}

svg.addEventListener("focusin", ({ target }) => marks.has(target) && showPicked(marks.get(target)))
svg.addEventListener("click", ({ target }) => marks.has(target) && target.focus())
svg.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const idOf = ([, { calls, token }]) => (token ?? calls[0]).id
  const inOrder = [...marks].sort((one, other) => idOf(one) - idOf(other)).map(([mark]) => mark)
  const at = inOrder.indexOf(event.target)
  inOrder.at(at === -1 ? -1 : (at + step) % inOrder.length)?.focus()
})
addEventListener("resize", rebuild)

// The table and the counters
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

// The choices of what is shown
const choices = [...document.querySelectorAll("[name=minutes]")]

const choose = (choice) => {
  choice.checked = true
  view.minutes = Number(choice.value)
  rebuild()
}

for (const choice of choices) {
  choice.addEventListener("change", () => {
    widens = false
    choose(choice)
  })
}

/** Shows the first choice that has room for all that was seen. */
const widen = (now) => {
  const choice = choices.find(({ value }) => value * minute > now - (calls[0]?.at ?? now)) ?? choices.at(-1)
  if (widens && !choice.checked) choose(choice)
}

const toggle = (button, then) =>
  button.addEventListener("click", () => {
    const isPressed = button.getAttribute("aria-pressed") !== "true"
    set(button, { "aria-pressed": isPressed })
    then(isPressed)
  })

toggle(find("#pause"), (isPressed) => {
  view.held?.later.forEach(see)
  view.held = isPressed ? { at: Date.now(), later: [] } : undefined
  rebuild()
})

toggle(find("#table-toggle"), (isPressed) => {
  find("#calls").hidden = !isPressed
  if (isPressed) showTable()
})

const tick = async () => {
  const now = Date.now()
  if (view.held !== undefined) return
  forget(now)
  widen(now)
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

// What a client is set to
const baseUrl = location.href.replace(/\/simulator\/.*$/, "")
const isLoopback = /^(localhost|127\.|\[::1\])/.test(location.hostname)
find("[data-base-url]").textContent = baseUrl
find("#variables").textContent = [
  `NUTRITION_ADVISOR_BASE_URL=${baseUrl}`,
  ...(isLoopback ? [] : ["NUTRITION_ADVISOR_ALLOW_INSECURE_HTTP=true"]),
  "NUTRITION_ADVISOR_LICENSE_KEY="
].join("\n")

// The stream
const connect = () => {
  const stream = new EventSource("events")
  const say = (text) => find("#connection").textContent = text
  stream.addEventListener("open", () => say("Live"))
  stream.addEventListener("message", receive)
  stream.addEventListener("error", () => {
    say("No connection. Trying again…")
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2_000)
  })
}

rebuild()
connect()
setInterval(tick, 250)
