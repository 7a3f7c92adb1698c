/** What the simulator saw, and how it is said. */
export const find = (selector) => document.querySelector(selector)
export const minute = 60_000
/** The longest view, and what a browser bears at a thousand calls a second. */
export const remembered = { time: 15 * minute, calls: 100_000, tokens: 2_000 }

/** While the picture is held: the moment that it shows, and what came since. */
export const view = { minutes: 1, held: undefined }
export const timeShown = () => view.held?.at ?? Date.now()

// What was seen
export const calls = []
export const tokens = []
export const exchanges = []

export const kindOf = ({ fault, status }) => fault !== null ? "fault" : status >= 200 && status < 300 ? "own" : "wrong"

const seeCall = (call) => {
  calls.push(call)
  if (call.operation === "token") exchanges.push(call)
}

/** A simulator that is started again counts from one, and accepts no earlier token. */
const seeToken = (token) => {
  if (token.token === 1) { for (const earlier of tokens) earlier.cutAt ??= token.receivedAt }
  tokens.push(token)
}

const seeRevocation = ({ at, revoked }) => {
  const numbers = new Set(revoked)
  for (const token of tokens.toReversed()) if (numbers.delete(token.token)) token.cutAt ??= at
}

export const see = (event) =>
  "operation" in event ? seeCall(event) : "revoked" in event ? seeRevocation(event) : seeToken(event)

export const forget = (now) => {
  const firstRecent = calls.findIndex(({ at }) => at > now - remembered.time)
  calls.splice(0, Math.max(firstRecent === -1 ? calls.length : firstRecent, calls.length - remembered.calls))
  for (const seen of [tokens, exchanges]) seen.splice(0, Math.max(0, seen.length - remembered.tokens))
}

// How it is said
export const clock = (at) => new Date(at).toTimeString().slice(0, 8)
const clockToMillis = (at) => `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`
const units = [["h", 60 * minute], ["min", minute], ["s", 1_000]]

export const span = (millis) => {
  const [unit, length] = units.find(([, length]) => millis >= length) ?? []
  return unit === undefined ? `${Math.round(millis)} ms` : `${(millis / length).toFixed(1)} ${unit}`
}

export const names = { token: "exchange", search: "search", request: "request" }
export const factsOf = (call) => [
  ["time", clockToMillis(call.at)],
  ["operation", names[call.operation]],
  ["route", `${call.method} ${call.route}`],
  ["status", String(call.status)],
  ["duration", span(call.duration)],
  ["token", call.token === null ? "none" : `#${call.token}`],
  ["fault", call.fault ?? "none"]
]

export const factsOfToken = ({ cutAt, expiresAt, receivedAt, token }) => [
  ["token", `#${token}`],
  ["received", clockToMillis(receivedAt)],
  ["lifetime", span(expiresAt - receivedAt)],
  cutAt === undefined ? ["end", clockToMillis(expiresAt)] : ["revoked", clockToMillis(cutAt)]
]

export const element = (name, ...children) => {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

export const set = (target, attributes) => {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value)
  return target
}

/** A shape of the drawing, or its text. */
export const draw = (parent, name, attributes, text = "") => {
  const shape = set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes)
  shape.textContent = text
  parent.append(shape)
  return shape
}
