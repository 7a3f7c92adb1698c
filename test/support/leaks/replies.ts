import type { Call, Reply } from "./LocalService.js"
import * as Secrets from "./secrets.js"

const secrets = [Secrets.key, Secrets.token, Secrets.renewedToken, Secrets.customerId]

/** Headers with every secret, in the forms that a header can carry. */
const echoHeaders = {
  "x-echo": secrets.flatMap((secret) => [encodeURIComponent(secret), Buffer.from(secret).toString("base64")]).join(" "),
  "x-token": Secrets.token,
  "set-cookie": `session=${encodeURIComponent(Secrets.token)}`
}

/** A string with every secret in every form. */
export const echo: string = Secrets.forms.flatMap(({ of }) => secrets.map((secret) => `"${of(secret)}"`)).join(" ")

export const respond =
  (body: string, headers: Readonly<Record<string, string>> = {}, status = 200): Reply => ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...echoHeaders, ...headers })
    response.end(body)
  }

export const echoing = (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  respond(echo, headers, status)

const tokenBody = (fields: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({
    access_token: Secrets.token,
    customer_id: Secrets.customerId,
    expires_in: 3600,
    token_type: "Bearer",
    scope: "read:search",
    ...fields
  })

export const tokenReplyWith = (fields: Readonly<Record<string, unknown>>): Reply => respond(tokenBody(fields))

/** The first exchange returns one token, and all others return another one. */
export const tokenReply: Reply = (call) =>
  tokenReplyWith(call.index === 0 ? {} : { access_token: Secrets.renewedToken })(call)

export const found: Reply = respond("{\"results\":[]}")

/** A response whose headers and body the caller may see. */
export const planReply: Reply = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json", "x-left": "3" })
  response.end("{\"plan\":\"basic\"}")
}

export const hang: Reply = ({ hang }) => hang()

const begin = ({ response }: Call, headers: Readonly<Record<string, string>>) => {
  response.writeHead(200, { "content-type": "application/json", ...echoHeaders, ...headers })
  response.write(`{"echo":${JSON.stringify(echo)},`)
}

export const hangInBody: Reply = (call) => {
  begin(call, {})
  setTimeout(call.hang, 30)
}

export const reset: Reply = ({ response }) => {
  response.socket?.resetAndDestroy()
}

const cut = (headers: Readonly<Record<string, string>>): Reply => (call) => {
  begin(call, headers)
  setTimeout(() => call.response.socket?.destroy(), 30)
}

export const cutChunked: Reply = cut({})

export const cutCounted: Reply = cut({ "content-length": "60000" })

export const redirect = (status: number): Reply => (call) =>
  echoing(status, {
    location: `${call.otherOrigin}${call.request.path}?key=${encodeURIComponent(Secrets.key)}`
  })(call)

export const html: Reply = respond(`<html><body>${echo}</body></html>`, { "content-type": "text/html" })

/** Sends the replies in order, and then repeats the last one. */
export const inTurn = (...replies: readonly [Reply, ...ReadonlyArray<Reply>]): Reply => (call) =>
  (replies[call.index] ?? replies[replies.length - 1] ?? replies[0])(call)
