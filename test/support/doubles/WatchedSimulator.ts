/** The simulator on a port with its page, and clients that call and watch it without a browser. */
import * as Http from "node:http"
import { text } from "node:stream/consumers"
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { Simulator } from "effect-nutrition-advisor/testing"
import { eventually } from "./Wire.js"

type Call = Pick<Http.RequestOptions, "headers" | "method" | "signal">

export type Event = Readonly<Record<string, unknown>> & { readonly id: number }

/** Sends the path as it is, because no library normalizes it. */
const open = (url: string, call: Call) => {
  const { origin } = new URL(url)
  return new Promise<Http.IncomingMessage>((resolve, reject) => {
    Http.request(origin, { agent: false, path: url.slice(origin.length), ...call }, resolve).on("error", reject).end()
  })
}

/** Returns undefined if the connection breaks. */
export const send = async (url: string, call: Call = {}) => {
  try {
    const response = await open(url, call)
    return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }
  } catch {
    return undefined
  }
}

const eventsIn = (text: string): ReadonlyArray<Event> =>
  Array.from(text.matchAll(/^data: (.*)\n\n/gm), ([, data = ""]) => JSON.parse(data))

export const searchPath = "/v2/products/napi/food/search/semantic"

export const tokenPath = "/v2/token-cache/unified/oauth/token"

export const start = (options: Simulator.Options = {}) =>
  Effect.gen(function*() {
    // A request on an idle connection that is just being closed would fail.
    const server = Http.createServer({ keepAliveTimeout: 600_000 })
    const context = yield* Layer.build(
      Simulator.layerServer({ controls: true, ...options }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1" })),
        Layer.orDie
      )
    )
    const url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
    const [key = Redacted.value(Simulator.licenseKey)] = options.licenseKeys ?? []
    const sendTo = (path: string, call?: Call) => Effect.promise(() => send(url + path, call))
    /** A connection to the stream of events. */
    const watch = (headers: Http.OutgoingHttpHeaders = {}) =>
      Effect.acquireRelease(
        Effect.promise(() => open(`${url}/simulator/events`, { headers })),
        (response) => Effect.sync(() => response.destroy())
      ).pipe(Effect.map((response) => {
        let received = ""
        response.setEncoding("utf8").on("data", (chunk) => received += chunk).on("error", () => {})
        return { response, text: () => received, events: () => eventsIn(received) }
      }))
    return {
      url,
      service: Context.get(context, Simulator.Simulator),
      /** The environment variables of a program that calls the simulator. */
      settings: { NUTRITION_ADVISOR_BASE_URL: url, NUTRITION_ADVISOR_LICENSE_KEY: key },
      send: sendTo,
      /** Exchanges the key. Returns the two headers of the token. */
      exchange: Effect.map(sendTo(`${tokenPath}/${encodeURIComponent(key)}`, { method: "POST" }), (response) => {
        const { access_token, customer_id } = JSON.parse(response?.text ?? "{}")
        return { authorization: `Bearer ${access_token}`, "service-id": String(customer_id) }
      }),
      watch,
      server,
      /** The events that a new viewer gets. */
      eventsForNewViewer: watch().pipe(
        Effect.tap((viewer) => eventually(() => viewer.text().includes("\n\n"))),
        Effect.map((viewer) => viewer.events()),
        Effect.scoped
      )
    }
  })
