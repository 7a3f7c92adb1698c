/** The events that the page received, and how it formats them. */
export const find = (selector) => document.querySelector(selector)
export const minute = 60_000
/** The number of calls and tokens that a browser can still show at a thousand calls per second. */
export const remembered = { calls: 100_000, tokens: 2_000 }

/** While the page is paused, `held` contains the time that it shows, and the events since then. */
export const view = { minutes: 1, held: undefined }
export const timeShown = () => view.held?.at ?? Date.now()

// Events
export const calls = []
export const tokens = []

export const kindOf = ({ fault, status }) => {
  if (fault !== null) return "fault"
  return status >= 200 && status < 300 ? "own" : "wrong"
}

/** After a restart, the simulator counts from one again and accepts none of its earlier tokens. */
const seeToken = (token) => {
  if (token.token === 1) { for (const earlier of tokens) earlier.cutAt ??= token.receivedAt }
  tokens.push(token)
}

const seeRevocation = ({ at, revoked }) => {
  const numbers = new Set(revoked)
  for (const token of tokens.toReversed()) if (numbers.delete(token.token)) token.cutAt ??= at
}

export const see = (event) => {
  if ("operation" in event) calls.push(event)
  else if ("revoked" in event) seeRevocation(event)
  else seeToken(event)
}

export const forget = () => {
  calls.splice(0, calls.length - remembered.calls)
  tokens.splice(0, tokens.length - remembered.tokens)
}

// Formats
export const clock = (at) => new Date(at).toTimeString().slice(0, 8)
const units = [["h", 60 * minute], ["min", minute], ["s", 1_000]]

export const span = (millis) => {
  const [unit, length] = units.find(([, length]) => millis >= length) ?? []
  return unit === undefined ? `${Math.round(millis)} ms` : `${(millis / length).toFixed(1)} ${unit}`
}

export const names = { token: "exchange", search: "search", request: "request" }

export const set = (target, attributes) => {
  for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value)
  return target
}

/** Adds a shape or a text to the drawing. */
export const draw = (parent, name, attributes, text = "") => {
  const shape = set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes)
  shape.textContent = text
  parent.append(shape)
  return shape
}
