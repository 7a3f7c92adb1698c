/** The page: its stream of events, the picked mark, the table, the counters and the controls. */
import { element, showPicked, showState, showTable } from "./details.js"
import { calls, clock, find, forget, minute, remembered, see, set, view } from "./seen.js"
import { addCall, marks, rebuild, redraw, svg } from "./timeline.js"

let lastId = 0
/** Whether the page chooses how many minutes it shows. It stops when the viewer makes a choice. */
let widens = true

const receive = ({ data }) => {
  const event = JSON.parse(data)
  if (event.id <= lastId) return
  lastId = event.id
  if (view.held === undefined) {
    see(event)
    if ("operation" in event) addCall(event)
  } else if (view.held.later.push(event) > remembered.calls) view.held.later.shift()
}

// The marks
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

// The counters and the state
const showCounters = (counters) => {
  for (const shown of document.querySelectorAll("[data-counter]")) shown.textContent = counters[shown.dataset.counter]
}

const ask = async (path, show) => {
  const response = await fetch(path).catch(() => undefined)
  if (response?.ok) show(await response.json())
}

// The choices of how many minutes are shown
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

/** Chooses the shortest span that has room for every call. */
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

const tick = () => {
  if (view.held !== undefined) return
  forget()
  widen(Date.now())
  redraw()
  find("#empty").hidden = calls.length > 0
  if (!find("#calls").hidden) showTable()
}

// The controls
const settings = JSON.parse(find("#settings").textContent)

const order = async (path, done) => {
  const response = await fetch(path, { method: "POST" }).catch(() => undefined)
  const body = await response?.json().catch(() => undefined)
  const refusal = `Not done: ${body?.error ?? "the simulator does not respond"}.`
  find("#said").textContent = response?.ok ? `${clock(Date.now())}: ${done}` : refusal
  if (response?.ok) showCounters(body)
  await ask("state", showState)
}

find("#revoke").addEventListener("click", () => order("revoke", "all tokens are revoked."))
find("#recover").addEventListener("click", () => order("recover", "no fault is on."))

const showFaults = () =>
  find("#fault").replaceChildren(...settings.faults[find("#operation").value].map((name) => element("option", name)))

showFaults()
find("#operation").addEventListener("change", showFaults)

find("#provocation").addEventListener("submit", (event) => {
  event.preventDefault()
  const [operation, fault, times] = ["#operation", "#fault", "#times"].map((name) => find(name).value)
  const which = times === "" ? `every ${operation} call gets` : `the next ${operation} calls (${times}) get`
  order(`provoke/${operation}/${fault}${times === "" ? "" : `?times=${times}`}`, `${which} the fault ${fault}.`)
})

/** A number takes effect when you press Enter, or a moment after you typed it. */
const whenTyped = (input, value, path) => {
  let timer
  input.value = value
  const tell = () => {
    if (input.value === "" || input.value === String(value) || !input.reportValidity()) return
    value = input.value
    order(path + value, `${input.labels[0].textContent.trim()}: ${value}.`)
  }
  const tellAfter = (millis) => () => {
    clearTimeout(timer)
    timer = setTimeout(tell, millis)
  }
  input.addEventListener("change", tellAfter(0))
  input.addEventListener("input", tellAfter(800))
}

whenTyped(find("#lifetime"), settings.tokenLifetime, "token-lifetime?seconds=")
for (const [operation, millis] of Object.entries(settings.latency)) {
  whenTyped(find(`#latency-${operation}`), millis, `latency/${operation}?millis=`)
}

// The environment variables of a client
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
const refresh = () => {
  ask("state", showState)
  if (view.held === undefined) ask("counters", showCounters)
}
refresh()
setInterval(refresh, 1_000)
