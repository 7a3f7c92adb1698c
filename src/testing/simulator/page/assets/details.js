/** The parts of the page that are text: the picked mark, the table, the tokens in use and the active faults. */
import { calls, clock, find, kindOf, names, set, span } from "./seen.js"

export const element = (name, ...children) => {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

const clockToMillis = (at) => `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`

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

const listOf = (facts) =>
  element("dl", ...facts.map(([name, value]) => element("div", element("dt", name), element("dd", value))))

const tokensShown = 5

/** Does nothing if the text is the same, because a screen reader would read it again. */
const say = (selector, text) => {
  const shown = find(selector)
  if (shown.textContent !== text) shown.textContent = text
}

/** The newest tokens that the simulator accepts, and the faults that the next calls get. */
export const showState = ({ faults, tokens }) => {
  const newest = tokens.slice(-tokensShown).reverse().map(({ expiresAt, token }) =>
    `#${token} for ${span(expiresAt - Date.now())}`
  )
  const more = tokens.length > tokensShown ? [`${tokens.length - tokensShown} more`] : []
  say("#tokens-in-use", [...newest, ...more].join(", ") || "none")
  const on = faults.map(({ fault, operation, times }) =>
    `${operation}: ${fault ?? "a planned response"}, ${times === null ? "every call" : `next ${times}`}`
  )
  say("#faults-on", on.join("; ") || "none")
  find("#faults-on").classList.toggle("calm", on.length === 0)
}

export const showPicked = ({ calls: picked, token }) => {
  const ago = (at) => ["ago", span(Date.now() - at)]
  const show = (...shown) => find("#picked").replaceChildren(...shown)
  if (token !== undefined) return show(listOf([...factsOfToken(token), ago(token.receivedAt)]))
  const [first] = picked
  const before = calls.findLast(({ id, operation }) => operation === first.operation && id < first.id)
  const since = before === undefined ? [] : [["since the previous one", span(first.at - before.at)]]
  const lists = picked.slice(0, 5).map((call) =>
    listOf([...factsOf(call), ago(call.at), ...(call === first ? since : [])])
  )
  if (picked.length > 1) lists.unshift(element("p", `${picked.length} calls, the first ${lists.length}:`))
  show(...lists)
}

const rowsOfTable = 300
let lastInTable = 0

export const showTable = () => {
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
