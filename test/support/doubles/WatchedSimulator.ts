/** The simulator on a port with its page, and who calls and watches it without a browser. */
import { once } from "node:events"
import * as Http from "node:http"
import { promisify } from "node:util"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { eventually } from "./Wire.js"

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Leaves before the response, after so many milliseconds. */
  readonly disconnectsAfter?: number
}

interface ReceivedResponse {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
}

export type Event = Readonly<Record<string, unknown>> & { readonly id: number }

const textOf = async (response: Http.IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The path is sent as it is: no library normalizes it. */
const send = (
  url: string,
  { headers = {}, disconnectsAfter, method = "GET" }: Call = {}
): Promise<ReceivedResponse | undefined> =>
  new Promise((resolve) => {
    const [, origin = "", path = ""] = /^(http:\/\/[^/]+)(\/.*)$/.exec(url) ?? []
    const request = Http.request(origin, { agent: false, headers, method, path })
    request.on("error", () => resolve(undefined))
    request.on("response", async (response) => {
      const text = await textOf(response).catch(() => undefined)
      resolve(text === undefined ? undefined : { status: response.statusCode ?? 0, headers: response.headers, text })
    })
    request.end()
    if (disconnectsAfter !== undefined) setTimeout(() => request.destroy(), disconnectsAfter)
  })

const eventsIn = (text: string): ReadonlyArray<Event> =>
  text.split("\n\n").slice(0, -1).flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })

/** A connection to the stream of events. */
const watch = async (url: string, headers: Http.OutgoingHttpHeaders) => {
  const request = Http.request(`${url}/simulator/events`, { agent: false, headers })
  request.end()
  const [response]: Array<Http.IncomingMessage> = await once(request, "response")
  if (response === undefined) throw new Error("there is no response")
  let text = ""
  let isOpen = true
  response.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", () => {}).on(
    "close",
    () => isOpen = false
  )
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    events: () => eventsIn(text),
    isOpen: () => isOpen,
    pause: () => response.pause(),
    leave: () => request.destroy()
  }
}

export const searchPath = "/v2/products/napi/food/search/semantic"

export const tokenPath = "/v2/token-cache/unified/oauth/token"

export const start = (options: Simulator.Options = {}, host = "127.0.0.1") =>
  Effect.gen(function*() {
    const server = Http.createServer()
    const context = yield* Layer.build(
      Simulator.layerServer({ controls: true, ...options }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => server, { port: 0, host })),
        Layer.orDie
      )
    )
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    const [key = Redacted.value(Simulator.licenseKey)] = options.licenseKeys ?? []
    const sendTo = (path: string, call?: Call) => Effect.promise(() => send(url + path, call))
    const watchIt = (headers: Http.OutgoingHttpHeaders = {}) =>
      Effect.acquireRelease(
        Effect.promise(() => watch(url, headers)),
        (viewer) => Effect.sync(() => viewer.leave())
      )
    return {
      url,
      service: Context.get(context, Simulator.Simulator),
      /** Undefined if the connection breaks. */
      send: sendTo,
      /** The headers of the token that it fetches. */
      exchange: Effect.map(sendTo(`${tokenPath}/${encodeURIComponent(key)}`, { method: "POST" }), (answered) => {
        const { access_token, customer_id } = JSON.parse(answered?.text ?? "{}")
        return { authorization: `Bearer ${access_token}`, "service-id": String(customer_id) }
      }),
      watch: watchIt,
      breakConnections: Effect.sync(() => server.closeAllConnections()),
      connections: Effect.promise(() => promisify(server.getConnections.bind(server))()),
      /** What a viewer who comes now is sent. */
      eventsForNewViewer: Effect.scoped(
        Effect.gen(function*() {
          const viewer = yield* watchIt()
          yield* eventually(() => viewer.text().includes("\n\n"))
          return viewer.events()
        })
      )
    }
  })

export type WatchedSimulator = Effect.Effect.Success<ReturnType<typeof start>>
