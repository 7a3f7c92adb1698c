/** The service on a port of this machine, which repeats every secret in its responses. */
import type { OutgoingHttpHeaders, ServerResponse } from "node:http"
import { Effect } from "effect"
import { fieldsOfTokenResponse } from "../documents/tokenResponse.js"
import * as Wire from "../doubles/Wire.js"
import * as Secrets from "./secrets.js"

/** `index` is the number of earlier calls to the same route: the token route, or any other. */
export type Reply = (request: Wire.Received, response: ServerResponse, index: number) => void

const secrets = [Secrets.key, Secrets.token, Secrets.renewedToken, Secrets.customerId]

/** Headers with every secret, in the forms that a header can carry. */
const echoHeaders = {
  "content-type": "application/json",
  "x-echo": secrets.flatMap((secret) => [encodeURIComponent(secret), Buffer.from(secret).toString("base64")]).join(" "),
  "x-token": Secrets.token,
  "set-cookie": `session=${encodeURIComponent(Secrets.token)}`
}

/** A string with every secret in every form. */
export const echo: string = Secrets.forms.flatMap(({ of }) => secrets.map((secret) => `"${of(secret)}"`)).join(" ")

export const respond = (body: string, headers: OutgoingHttpHeaders = {}, status = 200): Reply =>
  Wire.replying(body, { ...echoHeaders, ...headers }, status)

export const echoing = (status: number, headers: OutgoingHttpHeaders = {}): Reply => respond(echo, headers, status)

const requiredFields = {
  access_token: Secrets.token,
  customer_id: Secrets.customerId,
  expires_in: 3600,
  token_type: "Bearer"
}

/** The other fields of a token response. */
export const optionalFields = fieldsOfTokenResponse.filter((name) => !(name in requiredFields))

export const tokenReplyWith = (fields: object): Reply => respond(JSON.stringify({ ...requiredFields, ...fields }))

/** Sends the replies in order, and then repeats the last one. */
export const inTurn = (...replies: ReadonlyArray<Reply>): Reply => (request, response, index) =>
  (replies[index] ?? replies.at(-1))?.(request, response, index)

/** The first exchange returns one token, and all others return another one. */
export const tokenReply: Reply = inTurn(tokenReplyWith({}), tokenReplyWith({ access_token: Secrets.renewedToken }))

export const found: Reply = respond("{\"results\":[]}")

export const hang: Reply = () => {}

const begin = (response: ServerResponse, headers: OutgoingHttpHeaders = {}) => {
  response.writeHead(200, { ...echoHeaders, ...headers })
  response.write(`{"echo":${JSON.stringify(echo)},`)
}

export const hangInBody: Reply = (_, response) => begin(response)

export const reset: Reply = (_, response) => {
  response.socket?.resetAndDestroy()
}

/** Begins a body, and breaks the connection. */
export const cut = (headers: OutgoingHttpHeaders = {}): Reply => (_, response) => {
  begin(response, headers)
  setTimeout(() => response.socket?.destroy(), 30)
}

export const redirect: Reply = echoing(307, { location: `https://other.invalid/${encodeURIComponent(Secrets.key)}` })

export const html: Reply = respond(`<html><body>${echo}</body></html>`, { "content-type": "text/html" })

const counted = (reply: Reply): Wire.Handler => {
  let index = 0
  return (request, response) => reply(request, response, index++)
}

export const serve = ({ data = found, token = tokenReply }: { readonly data?: Reply; readonly token?: Reply } = {}) =>
  Effect.suspend(() => Wire.serveAdvisor({ data: counted(data), token: counted(token) }))
